package gpu

import (
	"cmp"
	"slices"

	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/arena"
)

// lists gives the groups that a reader reads their lists of values.
type lists struct {
	config *Config
	reader *groups.Reader
	n      int // lists of a group
	spans  []span
}

// span is the values of a group.
type span struct {
	first, n uint64
	row      []uint64
}

func (d *Devices) newLists(r *groups.Reader) *lists {
	return &lists{config: &d.config, reader: r, n: len(d.config.Lists)}
}

// mostRoom is the most that is asked for at once for values, in one chunk of an arena.
const mostRoom = 1 << 30

// fill puts the values of groups into their chains, in to, for which room makes sure of memory.
// It returns the groups without those of no rows, which devices have of jobs that they declined
// (firstpass.StopFull).
func (l *lists) fill(rows []uint64, to *arena.Arena, room func(bytes int) error) ([]uint64, error) {
	if l.n == 0 {
		return rows, nil
	}
	rows = l.withRows(rows)
	need := 0
	for row := range slices.Chunk(rows, l.config.Layout.Stride()) {
		need += l.config.States.ListNeed(row)
	}
	if err := room(min(need, mostRoom)); err != nil {
		return nil, &writeError{err}
	}
	for list := range l.n {
		l.collectSpans(rows, list)
		for left := l.spans; len(left) > 0; {
			n := sideBySide(left)
			if err := l.read(list, left[:n], to); err != nil {
				return nil, err
			}
			left = left[n:]
		}
	}
	return rows, nil
}

// reserve makes sure of memory in an arena.
func reserve(to *arena.Arena, bytes int) error {
	if err := to.Reserve(bytes); err != nil {
		return &writeError{err}
	}
	return nil
}

// liftFor gives back as much of the memory that is reserved for values as an arena needs, which
// takes it next.
func (d *Devices) liftFor(to *arena.Arena, bytes int) {
	if some := d.config.ListsMemory.Split(to.Growth(bytes)); some != nil {
		some.Close()
	} else {
		d.config.ListsMemory.Close()
	}
}

// withRows is the groups that have rows.
func (l *lists) withRows(rows []uint64) []uint64 {
	some, stride := rows[:0], l.config.Layout.Stride()
	for ; len(rows) > 0; rows = rows[stride:] {
		if row := rows[:stride]; l.config.States.Rows(row) > 0 {
			some = append(some, row...)
		}
	}
	return some
}

// collectSpans makes spans those of a list that have values, in the order in which these lie on the
// device.
func (l *lists) collectSpans(rows []uint64, list int) {
	l.spans = l.spans[:0]
	for row := range slices.Chunk(rows, l.config.Layout.Stride()) {
		if first, n := l.config.States.TakeList(row, list); n > 0 {
			l.spans = append(l.spans, span{first, n, row})
		}
	}
	slices.SortFunc(l.spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
}

// sideBySide is how many of the spans have no gap between them.
func sideBySide(spans []span) int {
	n := 1
	for n < len(spans) && spans[n].first == spans[n-1].first+spans[n-1].n {
		n++
	}
	return n
}

// read appends the values of spans that lie side by side.
func (l *lists) read(list int, spans []span, to *arena.Arena) error {
	last := spans[len(spans)-1]
	return l.reader.Values(list, spans[0].first, last.first+last.n-spans[0].first, func(values []uint64) error {
		for len(values) > 0 {
			s := &spans[0]
			n := min(s.n, uint64(len(values)))
			l.config.States.AppendList(s.row, list, values[:n], to)
			values = values[n:]
			if s.n -= n; s.n == 0 {
				spans = spans[1:]
			}
		}
		return reserve(to, 0) // it may have taken more than there is
	})
}
