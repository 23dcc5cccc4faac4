package agg

import (
	"container/heap"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// quantileLists writes the results of quantile and quantile_disc of several shares, in the order of
// these. It returns the first row whose result does not fit, or none.
func (f *finisher) quantileLists() (bad int, err error) {
	cont := f.call.fn == fnQuantiles && interpolates(f.call.types[0])
	var part column.Vector // the quantiles of a group, if they are interpolated
	f.sortOnce = true
	defer func() { f.sortOnce = false }()
	for i, row := range f.groups() {
		k := linkOf(f.slot(0), row)
		f.isSorted = false
		switch {
		case k.values() == 0:
			f.setNothing(i)
			continue
		case cont:
			fits, err := f.eachBetween(k, &part)
			if err != nil {
				return none, err
			}
			if !fits {
				return i, nil
			}
		}
		from := f.out.Elem.Len
		for _, p := range f.call.shares {
			if cont {
				break
			}
			e, err := f.at(none, k, p.reached(k.values()))
			if err == nil {
				err = f.addElement(k.chain, e)
			}
			if err != nil {
				return none, err
			}
		}
		if err := f.addNumbers(&part); err != nil {
			return none, err
		}
		if err := f.endElements(i, from); err != nil {
			return none, err
		}
	}
	return none, nil
}

// eachBetween makes part the interpolated quantiles of a chain. It is not ok if one does not fit.
func (f *finisher) eachBetween(k link, part *column.Vector) (fits bool, err error) {
	prepare(part, f.out.Type.Elem(), len(f.call.shares))
	out := f.out
	f.out = part
	defer func() { f.out = out }()
	for j, p := range f.call.shares {
		at, rest := p.between(k.values())
		lo, hi, err := f.pair(none, k, at, rest != 0)
		if err != nil {
			return false, err
		}
		if !f.setBetween(j, lo, hi, rest, p) {
			return false, nil
		}
	}
	return true, nil
}

// addNumbers appends numbers to the elements of lists.
func (f *finisher) addNumbers(part *column.Vector) error {
	if err := f.checkRoom(f.resultBytes() + part.Len*elementBytes(f.out.Type.Elem())); err != nil {
		return err
	}
	v := f.out.Elem
	v.Len += part.Len
	v.Int, v.Float, v.Wide = append(v.Int, part.Int...), append(v.Float, part.Float...), append(v.Wide, part.Wide...)
	return nil
}

// frequent is entries with their counts and first positions, the one that comes least often on top.
type frequent struct {
	entries    []entry
	count, pos int // their words
}

func (h *frequent) Len() int           { return len(h.entries) }
func (h *frequent) Less(i, j int) bool { return h.before(&h.entries[j], &h.entries[i]) }
func (h *frequent) Swap(i, j int)      { h.entries[i], h.entries[j] = h.entries[j], h.entries[i] }

// Push makes room for an entry, whose memory may be that of one before.
func (h *frequent) Push(e any) {
	n := len(h.entries)
	h.entries = slices.Grow(h.entries, 1)[:n+1]
	h.entries[n].hold(e.(*entry))
}

// Pop is not called.
func (h *frequent) Pop() any { return nil }

// before reports whether a comes more often than b, or as often and first.
func (h *frequent) before(a, b *entry) bool {
	if is, was := a.words[h.count], b.words[h.count]; is != was {
		return is > was
	}
	return a.words[h.pos] < b.words[h.pos]
}

// mostFrequent writes the results of approx_top_k: the values that come most often, of several the
// one that comes first, or the least one where results are deterministic.
func (f *finisher) mostFrequent() error {
	var top frequent
	return f.eachGroup(func(i int, k link) error {
		top.entries, top.count, top.pos = top.entries[:0], k.count, k.pos
		place := uint64(0) // of the entry in the order of values
		err := f.eachEntry(k, func(e *entry) error {
			if f.deterministic {
				defer func(first uint64) { e.words[k.pos] = first }(e.words[k.pos])
				place, e.words[k.pos] = place+1, place
			}
			switch {
			case top.Len() < f.call.most:
				heap.Push(&top, e)
			case top.before(e, &top.entries[0]):
				top.entries[0].hold(e)
				heap.Fix(&top, 0)
			}
			return nil
		})
		if err != nil {
			return err
		}
		slices.SortFunc(top.entries, func(a, b entry) int {
			if top.before(&a, &b) {
				return -1
			}
			return 1
		})
		from := f.out.Elem.Len
		for n := range top.entries {
			if err := f.addElement(k.chain, &top.entries[n]); err != nil {
				return err
			}
		}
		return f.endElements(i, from)
	})
}
