package sink

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// dictTrial is how many values a dictionary gets to show its worth: a column
// of which more than half are distinct gains nothing by codes.
const dictTrial = 16 << 10

// dictionary gathers the distinct values of a column chunk while pages of codes
// are written. It has two phases, and goes from the first to the second at
// most once in a chunk:
//
//	open    each value gets a code; ends when a limit is met
//	closed  no more codes; the pages that follow are PLAIN
type dictionary struct {
	room    *parquetRoom
	closed  bool
	texts   map[string]int32 // of a column of texts
	numbers *numberIndex     // of one of numbers; else nil
	plain   []byte           // the entries in PLAIN encoding: the body of the dictionary page
	entries int
	values  int // values that got a code
}

// newDictionary returns a dictionary for a column that gains by codes if few values are distinct;
// nil for others.
func newDictionary(t column.Type, s parquetStorage, room *parquetRoom) *dictionary {
	d := &dictionary{room: room}
	switch {
	case t.Rep() == column.RepBytes:
	case s.factor != 0 || t.Kind == column.Null:
		return nil
	case s.physical == format.Int32, s.physical == format.Int64, s.physical == format.Float, s.physical == format.Double:
		d.numbers = &numberIndex{}
	default:
		return nil
	}
	return d
}

func (d *dictionary) reset() {
	d.closed, d.plain, d.entries, d.values = false, d.plain[:0], 0, 0
	if d.numbers != nil {
		d.numbers.reset()
		return
	}
	clear(d.texts)
	if d.texts == nil {
		d.texts = make(map[string]int32)
	}
}

// isFull decides whether to go on with codes.
func (d *dictionary) isFull() bool {
	return len(d.plain) >= d.room.page || d.values >= dictTrial && 2*d.entries > d.values
}

// encode appends the codes of the rows from..to of v that are not NULL, and
// returns the row at which the dictionary was full.
func (d *dictionary) encode(codes []int32, v *column.Vector, from, to int, s parquetStorage, encode plainEncoder) ([]int32, int, error) {
	if d.numbers != nil {
		return d.encodeNumbers(codes, v, from, to, encode)
	}
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			continue
		}
		b := v.Bytes(i)
		code, ok := d.texts[string(b)]
		if !ok {
			if d.isFull() {
				return codes, i, nil
			}
			code = int32(d.entries)
			d.texts[string(b)] = code
			d.entries++
			if s.physical == format.ByteArray {
				d.plain = binary.LittleEndian.AppendUint32(d.plain, uint32(len(b)))
			}
			d.plain = append(d.plain, b...)
		}
		d.values++
		codes = append(codes, code)
	}
	return codes, to, nil
}

// encodeNumbers is encode of numbers, which are compared by their bits.
func (d *dictionary) encodeNumbers(codes []int32, v *column.Vector, from, to int, encode plainEncoder) ([]int32, int, error) {
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			continue
		}
		var bits uint64
		if v.Type.IsFloat() {
			bits = math.Float64bits(v.Float[i])
		} else {
			bits = uint64(v.Int[i])
		}
		slot := d.numbers.find(bits)
		if *slot == 0 {
			if d.isFull() {
				return codes, i, nil
			}
			var err error
			if d.plain, _, err = encode(d.plain, v, i, i+1); err != nil {
				return codes, i, err
			}
			d.entries++
			*slot = int32(d.entries)
			codes = append(codes, int32(d.entries-1))
			d.numbers.added(bits)
		} else {
			codes = append(codes, *slot-1)
		}
		d.values++
	}
	return codes, to, nil
}

// numberIndex is an open addressing table from numbers, by their bits, to entries of a
// dictionary.
type numberIndex struct {
	bits    []uint64
	numbers []int32 // the number of the entry, from 1 on; 0: the slot is free
	last    uint64  // slot that find returned
	n       int
}

const leastIndex = 64 // slots

func (x *numberIndex) reset() {
	if x.bits == nil {
		x.bits, x.numbers = make([]uint64, leastIndex), make([]int32, leastIndex)
	}
	clear(x.numbers)
	x.n = 0
}

// find returns the place of the entry's number for bits. If it is 0 there is no entry: the caller
// sets it and calls added. The place is valid until then.
func (x *numberIndex) find(bits uint64) *int32 {
	mask := uint64(len(x.bits) - 1)
	s := bits * 0x9e3779b97f4a7c15 >> 32 & mask // Fibonacci hashing: Knuth, volume 3, §6.4
	for x.numbers[s] != 0 && x.bits[s] != bits {
		s = (s + 1) & mask
	}
	x.last = s
	return &x.numbers[s]
}

// added notes that the number of the entry was set. The table is at most half full.
func (x *numberIndex) added(bits uint64) {
	x.bits[x.last] = bits
	if x.n++; 2*x.n <= len(x.bits) {
		return
	}
	old := *x
	x.bits, x.numbers = make([]uint64, 2*len(old.bits)), make([]int32, 2*len(old.bits))
	for s, n := range old.numbers {
		if n != 0 {
			*x.find(old.bits[s]) = n
			x.bits[x.last] = old.bits[s]
		}
	}
}

// page returns the header of the dictionary page.
func (d *dictionary) page() format.PageHeader {
	return format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
		NumValues: int32(d.entries), Encoding: format.Plain,
	})}
}

// appendCodes writes codes as a data page has them: their width in bits, then
// runs.
func appendCodes(dst []byte, codes []int32, scratch *[]byte) ([]byte, error) {
	var err error
	*scratch, err = (&rle.DictionaryEncoding{}).EncodeInt32((*scratch)[:0], codes)
	return append(dst, *scratch...), err
}
