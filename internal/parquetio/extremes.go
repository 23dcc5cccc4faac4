package parquetio

import (
	"math"
	"slices"
	"sync"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file leaves row groups out if only the least and greatest values of columns are asked for.
// Statistics are bounds here, as they are for filters, and never values. The values come from the
// rows that were read, and a row group whose bounds are within these adds nothing.
//
//	row group    bounds     least and greatest so far
//	2            10…17      10…17      has the least bound: it comes first
//	0            12…99      10…98      has the greatest, next
//	1            11…95                 left out
//	3            13…99                 read: by its bounds it may hold 99

// Extreme says what is asked of a column.
type Extreme struct{ Least, Greatest bool }

// extremes is the least and greatest values that readers of a scan have found, in order-preserving
// form (ordered). It may be used concurrently.
type extremes struct {
	asked []Extreme // by wanted column

	mu    sync.RWMutex
	found []reach // by wanted column
}

// reach is the least and the greatest of some values.
type reach struct{ low, high int64 }

var noReach = reach{math.MaxInt64, math.MinInt64}

func (r reach) and(o reach) reach { return reach{min(r.low, o.low), max(r.high, o.high)} }

// ordered maps the values of integer types to integers in the same order.
func ordered(t column.Type, x int64) int64 {
	if t.IsUnsigned() {
		return x ^ math.MinInt64
	}
	return x
}

// reachOf is the least and the greatest of integers.
func reachOf(t column.Type, ints []int64) reach {
	r := noReach
	if t.IsUnsigned() {
		for _, x := range ints {
			x = ordered(t, x)
			r.low, r.high = min(r.low, x), max(r.high, x)
		}
		return r
	}
	for _, x := range ints {
		r.low, r.high = min(r.low, x), max(r.high, x)
	}
	return r
}

// lookout looks at the values of a column that a reader hands out.
type lookout struct {
	dict *column.Dict // that was looked at last
	all  reach        // of its entries
}

// see is found with the values of v, n rows.
func (l *lookout) see(v *column.Vector, n int, found reach) reach {
	if v.Dict == nil && v.Null == nil {
		return found.and(reachOf(v.Type, v.Int[:n]))
	}
	if v.Dict != nil && v.Dict != l.dict {
		l.dict, l.all = v.Dict, reachOf(v.Type, v.Dict.Values.Int[:v.Dict.Len()])
	}
	for i := range n {
		if v.Dict != nil && found.and(l.all) == found { // there is none that may be further
			break
		}
		if v.IsNull(i) {
			continue
		}
		x := int64(0)
		if v.Dict != nil {
			x = v.Dict.Values.Int[v.Codes[i]]
		} else {
			x = v.Int[i]
		}
		x = ordered(v.Type, x)
		found = found.and(reach{x, x})
	}
	return found
}

// askExtremes makes readers leave row groups out, and puts those with the least or the greatest
// bound first.
func (s *Scan) askExtremes(asked []Extreme) {
	s.extremes = &extremes{asked: asked, found: slices.Repeat([]reach{noReach}, len(asked))}
	s.reorder()
}

// reorder has the units that are parts of certain row groups come first.
func (s *Scan) reorder() {
	if s.extremes == nil {
		return
	}
	front := make([]bool, len(s.groups))
	for i, ask := range s.extremes.asked {
		least, greatest := -1, -1
		var all reach
		for g := range s.groups {
			r, ok := s.boundsReach(&s.groups[g], i)
			if !ok {
				front[g] = true // it is read anyway
				continue
			}
			if least < 0 || r.low < all.low {
				least, all.low = g, r.low
			}
			if greatest < 0 || r.high > all.high {
				greatest, all.high = g, r.high
			}
		}
		if ask.Least && least >= 0 {
			front[least] = true
		}
		if ask.Greatest && greatest >= 0 {
			front[greatest] = true
		}
	}
	s.units = slices.Clone(s.units)
	slices.SortStableFunc(s.units, func(a, b Unit) int {
		switch {
		case front[a.of] == front[b.of]:
			return 0
		case front[a.of]:
			return -1
		}
		return 1
	})
}

// boundsReach is the bounds of column i in the row group of a unit; false: it has none.
func (s *Scan) boundsReach(u *Unit, i int) (reach, bool) {
	b := s.bounds(s.fileOf[u.of], u.Group, i)
	t := s.types[i]
	return reach{ordered(t, b.Min.Int), ordered(t, b.Max.Int)}, b.HasMin && b.HasMax && !b.Min.Null
}

// settled reports whether a unit adds nothing to what was found.
func (s *Scan) settled(u *Unit) bool {
	e := s.extremes
	if e == nil {
		return false
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	for i, ask := range e.asked {
		r, ok := s.boundsReach(u, i)
		if !ok || ask.Least && r.low < e.found[i].low || ask.Greatest && r.high > e.found[i].high {
			return false
		}
	}
	return true
}

// see takes what a reader hands out into account.
func (r *Reader) see(n int) {
	e := r.scan.extremes
	if e == nil {
		return
	}
	if r.lookouts == nil {
		r.lookouts = make([]lookout, len(r.vecs))
	}
	for i := range r.vecs {
		e.mu.RLock()
		before := e.found[i]
		e.mu.RUnlock()
		if found := r.lookouts[i].see(&r.vecs[i], n, before); found != before {
			e.mu.Lock()
			e.found[i] = e.found[i].and(found)
			e.mu.Unlock()
		}
	}
}
