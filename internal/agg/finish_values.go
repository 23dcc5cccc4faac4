package agg

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// eachGroup calls do with the chain of each group that has values; the others
// are NULL.
func (f *finisher) eachGroup(do func(i int, k link) error) error {
	for i, row := range f.groups() {
		k := linkOf(f.slot(0), row)
		if k.values() == 0 {
			f.setNothing(i)
			continue
		}
		if err := do(i, k); err != nil {
			return err
		}
	}
	return nil
}

// approxQuantile writes the results of approx_quantile.
func (f *finisher) approxQuantile() error {
	return f.eachGroup(func(i int, k link) error {
		s, err := f.stream(k)
		if err != nil {
			return err
		}
		e, _, err := s.skipValues(f.call.share.reached(k.values()))
		if err != nil {
			return err
		}
		return f.setEntry(i, k.chain, e)
	})
}

// mode writes the results of mode: of the values that come most often the one
// that comes first, or the least one where results are deterministic.
func (f *finisher) mode() error {
	var best entry
	return f.eachGroup(func(i int, k link) error {
		best.words = best.words[:0]
		err := f.eachEntry(k, func(e *entry) error {
			is, was := e.words, best.words
			if len(was) == 0 || is[k.count] > was[k.count] || is[k.count] == was[k.count] && is[k.pos] < was[k.pos] && !f.deterministic {
				best.hold(e)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return f.setEntry(i, k.chain, &best)
	})
}

// entropy writes the results of entropy: Shannon's, in bits. It is added up in
// the order of the values, so that it is the same however they came.
func (f *finisher) entropy() error {
	return f.eachGroup(func(i int, k link) error {
		var sum compensated
		n := float64(k.values())
		err := f.eachEntry(k, func(e *entry) error {
			share := float64(e.words[k.count]) / n
			var lost float64
			sum.s, lost = twoSum(sum.s, -share*math.Log2(share))
			sum.c += lost
			return nil
		})
		f.out.Float[i] = sum.value() + 0 // -0 + 0 = 0
		return err
	})
}

// orderedProduct writes the results of product of chains: it is multiplied in the order of the
// values, so that it is the same however they came.
func (f *finisher) orderedProduct() error {
	return f.eachGroup(func(i int, k link) error {
		w := [2]uint64{math.Float64bits(1)}
		err := f.eachEntry(k, func(e *entry) error {
			fraction, exponent := math.Frexp(k.numberOf(e.words))
			power := [2]uint64{math.Float64bits(fraction), uint64(exponent)}
			for n := e.words[k.count]; n > 0; n >>= 1 {
				if n&1 == 1 {
					mulProduct(w[:], math.Float64frombits(power[0]), int64(power[1]))
				}
				mulProduct(power[:], math.Float64frombits(power[0]), int64(power[1]))
			}
			return nil
		})
		f.out.Float[i] = productOf(w[:])
		return err
	})
}

// numberOf is the value of an entry of a chain of numbers as a double.
func (c *chain) numberOf(e []uint64) float64 {
	v := 0.0
	switch {
	case c.rep == column.RepFloat64:
		return c.floatOf(e)
	case c.rep == column.RepWide:
		v = c.wideOf(e).ToFloat64(0)
	case c.typ.Kind == column.Uint64:
		v = float64(uint64(c.intOf(e)))
	default:
		v = float64(c.intOf(e))
	}
	return v / math.Pow10(int(c.typ.Scale))
}

// lists writes the results of list, min(x, n) and max(x, n).
func (f *finisher) lists() error {
	return f.eachGroup(func(i int, k link) error {
		if err := f.checkWorth(k); err != nil {
			return err
		}
		from := f.out.Elem.Len
		err := f.eachEntry(k, func(e *entry) error { return f.addElement(k.chain, e) })
		if err != nil {
			return err
		}
		return f.endElements(i, from)
	})
}

// histogram writes the results of histogram.
func (f *finisher) histogram() error {
	return f.eachGroup(func(i int, k link) error {
		if err := f.checkWorth(k); err != nil {
			return err
		}
		from := f.out.Elem.Len
		err := f.eachEntry(k, func(e *entry) error {
			f.out.Counts = append(f.out.Counts, int64(e.words[k.count]))
			return f.addElement(k.chain, e)
		})
		if err != nil {
			return err
		}
		return f.endElements(i, from)
	})
}

// joined writes the results of string_agg.
func (f *finisher) joined() error {
	return f.eachGroup(func(i int, k link) error {
		if err := f.checkWorth(k); err != nil {
			return err
		}
		from := len(f.out.Data)
		first := true
		err := f.eachEntry(k, func(e *entry) (err error) {
			if err := f.checkRoom(f.resultBytes() + len(f.call.separator) + e.size); err != nil {
				return err
			}
			if !first {
				f.out.Data = append(f.out.Data, f.call.separator...)
			}
			first = false
			f.out.Data, err = f.work.reader.appendTo(f.out.Data, e)
			return err
		})
		if err != nil {
			return err
		}
		f.out.Span[i] = column.Span{Off: uint32(from), Len: uint32(len(f.out.Data) - from)}
		return f.checkBatch(i)
	})
}

// addElement appends the value of an entry to the elements of lists and maps.
func (f *finisher) addElement(c *chain, e *entry) (err error) {
	if err := f.checkRoom(f.resultBytes() + e.size + elementBytes(c.typ)); err != nil {
		return err
	}
	v := f.out.Elem
	v.Len++
	switch c.typ.Rep() {
	case column.RepInt64:
		v.Int = append(v.Int, c.intOf(e.words))
	case column.RepFloat64:
		v.Float = append(v.Float, c.floatOf(e.words))
	case column.RepWide:
		v.Wide = append(v.Wide, c.wideOf(e.words))
	case column.RepBytes:
		v.Span = append(v.Span, column.Span{Off: uint32(len(v.Data)), Len: uint32(e.size)})
		v.Data, err = f.work.reader.appendTo(v.Data, e)
	}
	return err
}

// elementBytes is the size of an element of a list, without the bytes of a string.
func elementBytes(t column.Type) int {
	if t.Rep() == column.RepWide {
		return 32
	}
	return 8
}

// endElements makes the elements from number from on result i.
func (f *finisher) endElements(i, from int) error {
	v := f.out.Elem
	f.out.Span[i] = column.Span{Off: uint32(from), Len: uint32(v.Len - from)}
	return f.checkBatch(i)
}

// maxResult is the bytes of one result: its size must fit 32 bits, here and in
// Arrow.
const maxResult = 1 << 31

// resultBytes is how many bytes results of strings, lists and maps take so far.
func (f *finisher) resultBytes() int {
	if !f.out.Type.IsNested() {
		return len(f.out.Data)
	}
	n := 8 * len(f.out.Counts)
	if e := f.out.Elem; e != nil {
		n += len(e.Data) + 8*len(e.Int) + 8*len(e.Float) + 32*len(e.Wide) + 8*len(e.Span)
	}
	return n
}

// checkRoom checks that results may have that many bytes.
func (f *finisher) checkRoom(bytes int) error {
	switch {
	case f.large == nil && bytes > f.batchBytes:
		return ErrBatchFull
	case f.large == nil:
		return nil
	case bytes >= maxResult:
		return &SizeError{Call: f.number, Func: signatures[f.call.fn].name}
	}
	return f.large.Fits(int64(bytes))
}

// checkWorth spares the work of a result that is much too large for a batch.
func (f *finisher) checkWorth(k link) error {
	if n := k.values(); f.large == nil && n*8 > uint64(f.batchBytes)*entryShare && !k.compacts() {
		return ErrBatchFull
	}
	return nil
}

// entryShare is how many times larger the values of a group may be than their result.
const entryShare = 4

// checkBatch looks whether there may be results behind number i.
func (f *finisher) checkBatch(i int) error {
	if i+1 < f.out.Len && f.resultBytes() > f.batchBytes {
		return ErrBatchFull
	}
	return nil
}
