package state

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Source is an input of whose rows a state has some.
type Source struct {
	ID     string     `json:"id,omitempty"`     // of what the input is; "": it is like no other
	Name   string     `json:"name,omitempty"`   // for messages
	Rows   int64      `json:"rows"`             // of all of it; -1: not known
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
	ids := map[string]bool{}
	for i := range sources {
		s := &sources[i]
		if s.Rows < -1 || s.span() > left {
			return errSources
		}
		if s.ID != "" && ids[s.ID] {
			return errors.New("a source is named twice")
		}
		ids[s.ID] = true
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

// Union is the sources of several states: Add takes those of each, Order puts them in order, and
// then Sources and Move tell of it.
type Union struct {
	Sources []Source
	names   []string // of each, the state by which it was first met
	states  []placed
}

// placed is a state that was added.
type placed struct {
	name    string
	sources []int // places of its sources in Union.Sources, in its order
}

// Moved tells where positions of one state are among those of a union.
type Moved struct {
	ends []int64 // of its sources
	add  []int64
}

// Add adds the sources of a state that is called name. The error is two states with the same rows
// (SHARE-ONCE).
func (u *Union) Add(name string, sources []Source) error {
	added := placed{name: name}
	for _, s := range sources {
		at := slices.IndexFunc(u.Sources, func(o Source) bool { return o.ID == s.ID && s.ID != "" })
		if at < 0 {
			added.sources = append(added.sources, len(u.Sources))
			u.Sources, u.names = append(u.Sources, s), append(u.names, name)
			continue
		}
		added.sources = append(added.sources, at)
		if u.Sources[at].Rows != s.Rows {
			return fmt.Errorf("damaged: a source has %d rows, and in %s %d", s.Rows, u.names[at], u.Sources[at].Rows)
		}
		joined, twice := join(u.Sources[at].Shares, s.Shares)
		if twice != nil {
			return fmt.Errorf("rows %d to %d of the input are in other states too, the first of them %s: they would count twice", twice[0]+1, twice[1], u.names[at])
		}
		u.Sources[at].Shares = joined
	}
	u.states = append(u.states, added)
	return checkSources(u.Sources)
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

// Order puts the sources in the order of rows (POSITION-ORDER): the next is always the first met of
// those that no state has behind one which is still to come. The error is states whose orders
// contradict each other.
//
// Of states with the sources [a], [b] and [b a], met in this order, those of the union are [b a].
func (u *Union) Order() error {
	n := len(u.Sources)
	in := make([][]int, n)  // numbers of the states that a source is in
	waits := make([]int, n) // in how many of them others are still before it
	done := make([]bool, n) // it has its place
	order := make([]int, 0, n)
	for i := range u.states {
		for k, s := range u.states[i].sources {
			in[s] = append(in[s], i)
			if k > 0 {
				waits[s]++
			}
		}
	}
	taken := make([]int, len(u.states)) // of the sources of a state
	for first := 0; len(order) < n; {
		for done[first] {
			first++
		}
		next := first
		for next < n && (done[next] || waits[next] > 0) {
			next++
		}
		if next == n {
			return u.contradiction(done)
		}
		order, done[next] = append(order, next), true
		for _, i := range in[next] {
			taken[i]++
			if rest := u.states[i].sources[taken[i]:]; len(rest) > 0 {
				waits[rest[0]]--
			}
		}
	}
	u.renumber(order)
	return nil
}

// renumber puts the sources in an order.
func (u *Union) renumber(order []int) {
	sources, names, places := make([]Source, len(order)), make([]string, len(order)), make([]int, len(order))
	for to, from := range order {
		sources[to], names[to], places[from] = u.Sources[from], u.names[from], to
	}
	u.Sources, u.names = sources, names
	for i := range u.states {
		for k, s := range u.states[i].sources {
			u.states[i].sources[k] = places[s]
		}
	}
}

// contradiction is the error of states in which each source that is not done is behind another such
// one.
func (u *Union) contradiction(done []bool) error {
	type step struct {
		source int
		state  *placed // that has the source before that of the last step
	}
	var steps []step // from a source to one before it, and so on
	at := step{source: slices.Index(done, false)}
	loop := -1
	for loop < 0 {
		steps = append(steps, at)
		at = step{source: -1}
		for i := range u.states {
			state := &u.states[i]
			// The first that is left in a state, so that the next step is one of another state.
			left := slices.IndexFunc(state.sources, func(s int) bool { return !done[s] })
			if k := slices.Index(state.sources, steps[len(steps)-1].source); left >= 0 && left < k {
				at = step{state.sources[left], state}
				break
			}
		}
		loop = slices.IndexFunc(steps, func(s step) bool { return s.source == at.source })
	}
	steps = append(steps[loop:], at)
	var parts []string
	for i := 1; i < len(steps); i++ {
		parts = append(parts, fmt.Sprintf("%s has %s before %s", steps[i].state.name, u.label(steps[i].source), u.label(steps[i-1].source)))
	}
	return fmt.Errorf("the states were merged in different orders of their inputs: %s: merge anew what they were made of, in one order of the inputs", strings.Join(parts, ", "))
}

// label is what messages call a source.
func (u *Union) label(source int) string {
	if name := u.Sources[source].Name; name != "" {
		return strconv.Quote(name)
	}
	first := slices.IndexFunc(u.states, func(p placed) bool { return slices.Contains(p.sources, source) })
	return fmt.Sprintf("input %d of %s", slices.Index(u.states[first].sources, source)+1, u.states[first].name)
}

// Move tells where the positions of state n, of those added, went by Order. nil: they stay.
func (u *Union) Move(n int) *Moved {
	begins := make([]int64, len(u.Sources))
	at := int64(0)
	for i := range u.Sources {
		begins[i] = at
		at += u.Sources[i].span()
	}
	m, moves := &Moved{}, false
	at = 0
	for _, s := range u.states[n].sources {
		add := begins[s] - at
		moves = moves || add != 0
		at += u.Sources[s].span()
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
