package state

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// Source is an input of whose rows a state has some.
type Source struct {
	ID     string     `json:"id,omitempty"`     // of what the input is; "": it is like no other
	Rows   int64      `json:"rows"`             // of all of it; -1: nobody knows
	Shares [][2]int64 `json:"shares,omitempty"` // from which row to before which, ascending
}

// unknownSpan is how many positions a source has of which nobody knows how many rows it has.
const unknownSpan = 1 << 44

// MostPositions is how many rows all sources may have.
const MostPositions = 1 << 62

// span is how many positions the source has.
func (s *Source) span() int64 {
	if s.Rows < 0 {
		return unknownSpan
	}
	return s.Rows
}

var errSources = errors.New("the rows of the sources are none that there can be")

func checkSources(sources []Source) error {
	left := int64(MostPositions)
	for i := range sources {
		s := &sources[i]
		if s.Rows < -1 || s.span() > left {
			return errSources
		}
		left -= s.span()
		at := int64(0)
		for _, r := range s.Shares {
			if r[0] < at || r[1] < r[0] || s.Rows >= 0 && r[1] > s.Rows {
				return errSources
			}
			at = r[1]
		}
	}
	return nil
}

// Share is the stretch of a source of so many rows that part number of of takes
// (query.Part, PART-ONCE): the row groups whose middle rows are there.
func Share(rows int64, number, of int) (shares [][2]int64) {
	if of == 0 {
		number, of = 1, 1
	}
	from, to := cut(rows, number-1, of), cut(rows, number, of)
	if from == to {
		return nil
	}
	return [][2]int64{{from, to}}
}

// cut is the first row of n that is not below k of its of parts: n*k/of, rounded up.
func cut(n int64, k, of int) int64 {
	whole, rest := n/int64(of), n%int64(of)
	return whole*int64(k) + (rest*int64(k)+int64(of)-1)/int64(of)
}

// Union is the sources of several states.
type Union struct {
	Sources []Source
	names   []string // of each, by which it was first met
}

// Moved tells where positions of one state are among those of a union.
type Moved struct {
	ends []int64 // of its sources
	add  []int64
}

// Add adds the sources of a state that is called name, and returns for each where it is. The error
// is two states with the same rows.
func (u *Union) Add(name string, sources []Source) (places []int, err error) {
	for _, s := range sources {
		at := slices.IndexFunc(u.Sources, func(o Source) bool { return o.ID == s.ID && s.ID != "" })
		if at < 0 {
			places = append(places, len(u.Sources))
			u.Sources, u.names = append(u.Sources, s), append(u.names, name)
			continue
		}
		places = append(places, at)
		if u.Sources[at].Rows != s.Rows {
			return nil, fmt.Errorf("damaged: a source has %d rows, and in %s %d", s.Rows, u.names[at], u.Sources[at].Rows)
		}
		joined, twice := join(u.Sources[at].Shares, s.Shares)
		if twice != nil {
			return nil, fmt.Errorf("rows %d to %d of the input are in other states too, the first of them %s: they would count twice", twice[0]+1, twice[1], u.names[at])
		}
		u.Sources[at].Shares = joined
	}
	return places, checkSources(u.Sources)
}

// join is the stretches of both; twice is one that both have.
func join(a, b [][2]int64) (all [][2]int64, twice *[2]int64) {
	both := slices.Concat(a, b)
	slices.SortFunc(both, func(x, y [2]int64) int { return int(min(max(x[0]-y[0], -1), 1)) })
	for _, s := range both {
		last := len(all) - 1
		switch {
		case s[0] == s[1]:
		case last >= 0 && s[0] < all[last][1]:
			return nil, &[2]int64{s[0], min(s[1], all[last][1])}
		case last >= 0 && s[0] == all[last][1]:
			all[last][1] = s[1]
		default:
			all = append(all, s)
		}
	}
	return all, nil
}

// Move tells where the positions of a state went whose sources Add has placed. It is called when
// all were added. nil: they stay.
func (u *Union) Move(sources []Source, places []int) *Moved {
	begins := make([]int64, len(u.Sources))
	at := int64(0)
	for i := range u.Sources {
		begins[i] = at
		at += u.Sources[i].span()
	}
	m, moves := &Moved{}, false
	at = 0
	for i := range sources {
		add := begins[places[i]] - at
		moves = moves || add != 0
		at += sources[i].span()
		m.ends, m.add = append(m.ends, at), append(m.add, add)
	}
	if !moves {
		return nil
	}
	return m
}

// Position is where a position went.
func (m *Moved) Position(pos int64) int64 {
	if m == nil {
		return pos
	}
	i := sort.Search(len(m.ends), func(i int) bool { return pos < m.ends[i] })
	return pos + m.add[min(i, len(m.add)-1)]
}
