package agg

import (
	"fmt"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/sortkey"
)

// Aggregates with an order have one argument, of binaries: each is a value behind what it is
// ordered by (package sortkey), so that sorting the binaries sorts the values. Their first
// parameter is a NULL of the values' type.

// OrderSuffix behind list, string_agg and min stands for those that take packed values: list and
// string_agg in their order, min the n first of them.
const OrderSuffix = " order by"

// errPacked is the error of a packed value that no run has made: it comes from a state. Packed
// values are checked when they are unpacked.
var errPacked = fmt.Errorf("%w: a value is not what it is ordered by says", ErrState)

// packedReader reads the keys of a packed value.
type packedReader struct {
	r     *farReader
	e     *entry
	at    int
	piece []byte // from at on
}

func (p *packedReader) next() (byte, error) {
	if len(p.piece) == 0 {
		if p.at >= p.e.size {
			return 0, errPacked
		}
		var err error
		if p.piece, err = p.r.piece(p.e, p.at); err != nil {
			return 0, err
		}
	}
	b := p.piece[0]
	p.skip(1)
	return b, nil
}

func (p *packedReader) skip(n int) {
	p.at += n
	p.piece = p.piece[min(n, len(p.piece)):]
}

// skipText skips a text, whose bytes were turned around by turned.
func (p *packedReader) skipText(turned byte) error {
	for zero := false; ; {
		b, err := p.next()
		if err != nil {
			return err
		}
		b ^= turned
		if zero && b == 0 {
			return nil
		}
		zero = b == 0
	}
}

// value is where the value begins.
func (p *packedReader) value() (int, error) {
	for {
		kind, err := p.next()
		switch kind {
		case sortkey.PackedEnd:
			return p.at, err
		case sortkey.PackedNumber:
			p.skip(8)
		case sortkey.PackedWide:
			p.skip(32)
		case sortkey.PackedText:
			err = p.skipText(0)
		case sortkey.PackedTextDesc:
			err = p.skipText(math.MaxUint8)
		case sortkey.PackedNullFirst, sortkey.PackedNullLast:
		default:
			err = errPacked
		}
		if err != nil {
			return 0, err
		}
	}
}

// ordered writes the results of list and string_agg in an order, and of the n first values.
func (f *finisher) ordered() error {
	return f.eachGroup(func(i int, k link) error {
		if err := f.checkWorth(k); err != nil {
			return err
		}
		from, first := len(f.out.Data), true
		if f.out.Type.IsNested() {
			from = f.out.Elem.Len
		}
		err := f.eachEntry(k, func(e *entry) error {
			if !first && !f.out.Type.IsNested() {
				f.out.Data = append(f.out.Data, f.call.separator...)
			}
			first = false
			return f.addPacked(e)
		})
		if err != nil {
			return err
		}
		if f.out.Type.IsNested() {
			return f.endElements(i, from)
		}
		f.out.Span[i] = column.Span{Off: uint32(from), Len: uint32(len(f.out.Data) - from)}
		return f.checkBatch(i)
	})
}

// addPacked appends the value of an entry to the elements of lists, or to the text.
func (f *finisher) addPacked(e *entry) error {
	keys := packedReader{r: &f.work.reader, e: e}
	from, err := keys.value()
	if err != nil {
		return err
	}
	to := e.size
	if err := f.checkRoom(f.resultBytes() + len(f.call.separator) + to - from + 32); err != nil {
		return err
	}
	if !f.out.Type.IsNested() {
		f.out.Data, err = f.work.reader.appendPart(f.out.Data, e, from, to)
		return err
	}
	v := f.out.Elem
	if v.Type.Rep() == column.RepBytes {
		v.Span = append(v.Span, column.Span{Off: uint32(len(v.Data)), Len: uint32(to - from)})
		v.Data, err = f.work.reader.appendPart(v.Data, e, from, to)
		v.Len++
		return err
	}
	var number [32]byte
	b, err := f.work.reader.appendPart(number[:0], e, from, to)
	if err != nil {
		return err
	}
	if size := 8 * valueWords(v.Type.Rep()); len(b) != size {
		return errPacked
	}
	sortkey.AppendPacked(v, b)
	return nil
}
