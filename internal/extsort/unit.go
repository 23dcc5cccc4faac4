package extsort

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/hostmem"
)

// entry names a row in the pages of a unit.
type entry struct {
	prefix uint64 // the first bytes of its key that are not the same everywhere
	at     uint64 // page<<32 | offset
}

const (
	entryBytes = 16
	// entryStep is how many entries memory is taken for at a time.
	entryStep = 256
)

// unit is rows in the order in which they came.
type unit struct {
	pages  [][]byte
	rows   int
	widest int // bytes of the values of the widest row

	entries int // for which memory was drawn
}

// room is how many of the rows with these sizes fit the last page.
func (u *unit) room(sizes []int) (n int) {
	if len(u.pages) == 0 {
		return 0
	}
	p := u.pages[len(u.pages)-1]
	for left := cap(p) - len(p); n < len(sizes) && sizes[n] <= left; n++ {
		left -= sizes[n]
	}
	return n
}

// allocate returns memory of the last page for rows of these sizes, which fit.
func (u *unit) allocate(sizes []int, rows []row) []row {
	p := &u.pages[len(u.pages)-1]
	for _, n := range sizes {
		from := len(*p)
		*p = (*p)[:from+n]
		rows = append(rows, row((*p)[from:from+n:from+n]))
	}
	u.rows += len(sizes)
	return rows
}

// note looks at rows that were written.
func (u *unit) note(rows []row) {
	for _, r := range rows {
		u.widest = max(u.widest, r.valueBytes())
	}
}

// keepBelow drops those rows of the last page, from offset from on, whose keys
// are not below bound, and returns how many they were.
func (u *unit) keepBelow(bound []byte, from int) (dropped int) {
	p := &u.pages[len(u.pages)-1]
	end := from
	for at := from; at < len(*p); {
		r := row((*p)[at:])
		size := r.len()
		if bytes.Compare(r.key(), bound) < 0 {
			end += copy((*p)[end:], r[:size])
		} else {
			dropped++
		}
		at += size
	}
	*p = (*p)[:end]
	u.rows -= dropped
	return dropped
}

// memRun is sorted rows in memory.
type memRun struct {
	pages  [][]byte
	memory []uint64 // of index
	index  []entry  // in order of their keys
	shared int      // bytes that all keys begin with
	widest int      // bytes of the values of the widest row
}

func (m *memRun) row(e entry) row { return row(m.pages[e.at>>32][uint32(e.at):]) }

// bytes is the memory of the index.
func (m *memRun) indexBytes() int64 { return int64(len(m.memory)) * 8 }

// sort makes a run of the rows of the unit, of which there are some.
func (u *unit) sort() *memRun {
	m := u.run()
	slices.SortFunc(m.index, m.compare)
	return m
}

// run is the rows of the unit, of which there are some, as a run that is not sorted yet.
func (u *unit) run() *memRun {
	m := &memRun{pages: u.pages, memory: hostmem.Make[uint64](2 * u.rows), widest: u.widest}
	m.index = unsafe.Slice((*entry)(unsafe.Pointer(unsafe.SliceData(m.memory))), u.rows)
	var first []byte
	n := 0
	for p, page := range m.pages {
		for at := 0; at < len(page); n++ {
			r := row(page[at:])
			m.index[n].at = uint64(p)<<32 | uint64(at)
			key := r.key()
			if n == 0 {
				first, m.shared = key, len(key)
			}
			m.shared = common(first, key, min(m.shared, len(key)))
			at += r.len()
		}
	}
	for i := range m.index {
		m.index[i].prefix = prefix(m.row(m.index[i]).key(), m.shared)
	}
	return m
}

func (m *memRun) compare(a, b entry) int {
	switch {
	case a.prefix < b.prefix:
		return -1
	case a.prefix > b.prefix:
		return 1
	}
	return bytes.Compare(m.row(a).key(), m.row(b).key())
}
