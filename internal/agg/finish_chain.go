package agg

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// holistic writes the results of what needs all values of a group. It returns
// the first row whose result does not fit, or none.
func (f *finisher) holistic() (bad int, err error) {
	bad = none
	f.work = f.workspace()
	f.work.reader = f.farReader(f.work.reader.buf, &f.work.stop)
	defer f.release(f.work)
	defer f.seal()
	switch f.call.fn {
	case fnMad:
		err = f.deviations()
	case fnQuantiles, fnQuantilesDisc:
		bad, err = f.quantileLists()
	case fnMode:
		err = f.mode()
	case fnTop:
		err = f.mostFrequent()
	case fnEntropy:
		err = f.entropy()
	case fnProduct:
		err = f.orderedProduct()
	case fnHistogram:
		err = f.histogram()
	case fnList:
		err = f.lists()
	case fnStringAgg:
		err = f.joined()
	case fnListOrdered, fnStringOrdered, fnFirstN:
		err = f.ordered()
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
		bad, err = f.quantiles()
	}
	if err == nil {
		err = f.work.stop.err
	}
	return bad, err
}

// inMemory reports whether the entries of a chain are one word and all in
// memory.
func (f *finisher) inMemory(k link) bool { return k.words == 1 && (!k.runs || *k.runList() == 0) }

// sort puts the entries of a chain in order: those in memory into f.sorted,
// the others, and those that are too many to be sorted at once, into
// f.sources.
func (f *finisher) sort(k link) (err error) {
	runs := f.runsOf(k, f.reg)
	f.sorted = sequence{}
	switch {
	case k.words == 0:
		runs, err = f.sortStrings(k, runs)
	case k.runs && k.entries(f.reg, &f.work.stop) > f.limits.piece:
		runs, err = f.writeEntries(k, f.reg, f.work, runs)
	default:
		f.work.gather(k, f.reg)
		f.sorted, err = f.work.reduced(k.chain)
	}
	if err == nil {
		f.sources, err = f.mergeRuns(k.chain, runs, &f.work.stop)
	}
	return err
}

// sortStrings is sort for strings: the last of those that are too many stay in memory.
func (f *finisher) sortStrings(k link, runs []run) (_ []run, err error) {
	most := f.limits.strings()
	if !k.runs {
		most = 0
	}
	err = f.work.index(k, f.reg, most, func() (err error) {
		runs, err = f.writeSorted(k.chain, f.work, runs)
		return err
	})
	if err == nil {
		f.sorted, err = f.work.reduced(k.chain)
	}
	return runs, err
}

// stream returns the entries of a chain in order. It is valid until the next
// call, and reads what is in memory from the workspace.
func (f *finisher) stream(k link) (*stream, error) {
	if !f.isSorted {
		if err := f.sort(k); err != nil {
			return nil, err
		}
	}
	f.isSorted = f.sortOnce
	return f.begin(k, 0), nil
}

// again returns the entries that stream has returned once more, while others
// may still read them.
func (f *finisher) again(k link) *stream { return f.begin(k, 1) }

// eachEntry calls do with the entries of a chain in order.
func (f *finisher) eachEntry(k link, do func(e *entry) error) error {
	if err := f.sort(k); err != nil {
		return err
	}
	if len(f.sources) == 0 {
		return f.eachSorted(k.chain, do)
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

// eachSorted is eachEntry if all entries are in memory.
func (f *finisher) eachSorted(c *chain, do func(e *entry) error) error {
	var e entry
	for words := f.sorted.words; len(words) > 0; words = words[c.words:] {
		e.words = words[:c.words]
		if f.work.stop.due(c.words) {
			return f.work.stop.err
		}
		if err := do(&e); err != nil {
			return err
		}
	}
	e.words = nil
	for _, it := range f.sorted.items {
		if f.work.stop.due(longWork(0)) {
			return f.work.stop.err
		}
		f.sorted.index.open(c, it, &e)
		if err := do(&e); err != nil {
			return err
		}
	}
	return nil
}

func (f *finisher) begin(k link, number int) *stream {
	s := &f.work.streams[number]
	s.reset(f.Layout, k.chain, &f.work.stop)
	for _, r := range f.sources {
		s.addRun(f.Layout, r)
	}
	if !f.sorted.empty() {
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
func (f *finisher) setEntry(i int, c *chain, e *entry) (err error) {
	switch c.typ.Rep() {
	case column.RepInt64:
		f.out.Int[i] = c.intOf(e.words)
	case column.RepFloat64:
		f.out.Float[i] = c.floatOf(e.words)
	case column.RepWide:
		f.out.Wide[i] = c.wideOf(e.words)
	case column.RepBytes:
		off := len(f.out.Data)
		if err := f.checkRoom(off + e.size); err != nil {
			return err
		}
		f.out.Span[i] = column.Span{Off: uint32(off), Len: uint32(e.size)}
		f.out.Data, err = f.work.reader.appendTo(f.out.Data, e)
	}
	return err
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
