package sink

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// dictTrial is how many values a dictionary gets to show its worth: a column
// of which more than half are distinct gains nothing by codes.
const dictTrial = 16 << 10

// dictionary gathers the distinct texts of a column chunk while pages of codes
// are written. It has two phases, and goes from the first to the second at
// most once in a chunk:
//
//	open    each value gets a code; ends when a limit is met
//	closed  no more codes; the pages that follow are PLAIN
type dictionary struct {
	room   *parquetRoom
	closed bool
	index  map[string]int32
	plain  []byte // the entries in PLAIN encoding: the body of the dictionary page
	values int    // values that got a code
}

func (d *dictionary) reset() {
	d.closed, d.plain, d.values = false, d.plain[:0], 0
	clear(d.index)
	if d.index == nil {
		d.index = make(map[string]int32)
	}
}

// isFull decides whether to go on with codes.
func (d *dictionary) isFull() bool {
	return len(d.plain) >= d.room.page || d.values >= dictTrial && 2*len(d.index) > d.values
}

// encode appends the codes of the rows from..to of v that are not NULL, and
// returns the row at which the dictionary was full.
func (d *dictionary) encode(codes []int32, v *column.Vector, from, to int, s parquetStorage) ([]int32, int) {
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			continue
		}
		b := v.Bytes(i)
		code, ok := d.index[string(b)]
		if !ok {
			if d.isFull() {
				return codes, i
			}
			code = int32(len(d.index))
			d.index[string(b)] = code
			if s.physical == format.ByteArray {
				d.plain = binary.LittleEndian.AppendUint32(d.plain, uint32(len(b)))
			}
			d.plain = append(d.plain, b...)
		}
		d.values++
		codes = append(codes, code)
	}
	return codes, to
}

// page returns the header of the dictionary page.
func (d *dictionary) page() format.PageHeader {
	return format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
		NumValues: int32(len(d.index)), Encoding: format.Plain,
	})}
}

// appendCodes writes codes as a data page has them: their width in bits, then
// runs.
func appendCodes(dst []byte, codes []int32, scratch *[]byte) ([]byte, error) {
	var err error
	*scratch, err = (&rle.DictionaryEncoding{}).EncodeInt32((*scratch)[:0], codes)
	return append(dst, *scratch...), err
}
