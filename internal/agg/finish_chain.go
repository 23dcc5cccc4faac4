package agg

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// holistic writes the results of what needs all values of a group. It returns
// the first row whose result does not fit, or none.
func (f *finisher) holistic() (bad int, err error) {
	f.work = f.workspace()
	defer f.release(f.work)
	defer f.seal()
	switch f.call.fn {
	case fnMad:
		err = f.deviations()
	case fnMode:
		err = f.mode()
	case fnEntropy:
		err = f.entropy()
	case fnHistogram:
		err = f.histogram()
	case fnList:
		err = f.lists()
	case fnStringAgg:
		err = f.joined()
	case fnMinN, fnMaxN:
		if f.slot(0).op == opTop {
			return none, f.top()
		}
		err = f.lists()
	case fnApproxCountDistinct:
		err = f.approxDistinct()
	case fnApproxQuantile:
		err = f.approxQuantile()
	default:
		return f.quantiles()
	}
	return none, err
}

// inMemory reports whether the entries of a chain are one word and all in
// memory.
func (f *finisher) inMemory(k link) bool { return k.words == 1 && (!k.runs || *k.runList() == 0) }

// sort puts the entries of a chain in order: those in memory into f.sorted,
// the others, and those that are too many to be sorted at once, into
// f.sources.
func (f *finisher) sort(k link) (err error) {
	runs := f.runsOf(k, f.reg)
	f.sorted = nil
	if k.runs && k.entries(f.reg) > f.limits.piece {
		runs, err = f.writeEntries(k, f.reg, f.work, runs)
	} else {
		f.sorted = f.work.reduce(k.chain, f.work.gather(k, f.reg))
	}
	if err == nil {
		f.sources, err = f.mergeRuns(k.chain, runs)
	}
	return err
}

// stream returns the entries of a chain in order. It is valid until the next
// call, and reads what is in memory from the workspace.
func (f *finisher) stream(k link) (*stream, error) {
	if err := f.sort(k); err != nil {
		return nil, err
	}
	return f.begin(k, 0), nil
}

// again returns the entries that stream has returned once more, while others
// may still read them.
func (f *finisher) again(k link) *stream { return f.begin(k, 1) }

// eachEntry calls do with the entries of a chain in order.
func (f *finisher) eachEntry(k link, do func(e []uint64) error) error {
	if err := f.sort(k); err != nil {
		return err
	}
	if len(f.sources) == 0 {
		for words := f.sorted; len(words) > 0; {
			n := k.entryWords(words)
			if err := do(words[:n]); err != nil {
				return err
			}
			words = words[n:]
		}
		return nil
	}
	s := f.begin(k, 0)
	for {
		e, err := s.next()
		if err != nil || e == nil {
			return err
		}
		if err := do(e); err != nil {
			return err
		}
	}
}

func (f *finisher) begin(k link, number int) *stream {
	s := &f.work.streams[number]
	s.reset(k.chain)
	for _, r := range f.sources {
		s.addRun(r, f.runs)
	}
	if len(f.sorted) > 0 {
		s.addMemory(f.sorted)
	}
	return s
}

// setNothing makes result i NULL.
func (f *finisher) setNothing(i int) {
	switch f.out.Type.Rep() {
	case column.RepInt64:
		f.out.Int[i] = 0
	case column.RepFloat64:
		f.out.Float[i] = 0
	case column.RepWide:
		f.out.Wide[i] = decimal256.Num{}
	default:
		f.out.Span[i] = column.Span{}
	}
	f.setNull(i)
}

// setEntry makes the value of an entry result i.
func (f *finisher) setEntry(i int, c *chain, e []uint64) error {
	switch c.typ.Rep() {
	case column.RepInt64:
		f.out.Int[i] = c.intOf(e)
	case column.RepFloat64:
		f.out.Float[i] = c.floatOf(e)
	case column.RepWide:
		f.out.Wide[i] = c.wideOf(e)
	case column.RepBytes:
		return f.setText(i, c.text(e))
	}
	return nil
}

// intOf, floatOf and wideOf are the value of an entry.

func (c *chain) intOf(e []uint64) int64 {
	v := int64(e[c.value])
	if c.keep == keepGreatest {
		v = ^v
	}
	if c.typ.Kind == column.Uint64 && c.keep != keepOrder {
		v ^= math.MinInt64
	}
	return v
}

func (c *chain) floatOf(e []uint64) float64 {
	v := int64(e[c.value])
	switch c.keep {
	case keepOrder:
		return math.Float64frombits(uint64(v))
	case keepGreatest:
		v = ^v
	}
	return keyFloat(v)
}

func (c *chain) wideOf(e []uint64) decimal256.Num {
	w := [4]uint64(e[c.value:][:4])
	if c.keep == keepGreatest {
		invert(w[:])
	}
	return loadWide(w[:])
}
