package cpu

import (
	"cmp"
	"slices"
)

// This file is how merged groups come out in order: their hashes and numbers
// are put in order, then their rows are copied, end to end, to a tile. What
// makes results of them walks it once for each column, and a copy costs less
// than as many walks over rows that lie anywhere.

// collect emits the groups in order of hash: each run of occupied slots
// sorted, the runs being in order already (see table), and those that have
// wrapped around to the front put after all others.
func (m *Merger) collect() error {
	m.out.wrapped = m.out.wrapped[:0]
	run := m.out.begin() // where the current run begins
	slots := m.dir.slots
	i := 0
	for ; i < len(slots) && slots[i] != 0; i++ {
		if p := m.placed(m.dir.group(slots[i])); m.dir.home(p.hash) > uint64(i) {
			m.out.wrapped = append(m.out.wrapped, p)
		} else {
			m.insert(run, p)
		}
	}
	for ; i < len(slots); i++ {
		if slots[i] != 0 {
			m.insert(run, m.placed(m.dir.group(slots[i])))
			continue
		}
		var err error
		if run, err = m.settle(); err != nil {
			return err
		}
	}
	return m.endRun(run)
}

// endRun puts those that have wrapped around into the run, which is the last,
// and emits all.
func (m *Merger) endRun(run int) error {
	for _, p := range m.out.wrapped {
		m.insert(run, p)
	}
	return m.flush()
}

// placed is a group with what it is put in order by.
type placed struct {
	hash  uint64
	group uint32
}

func (m *Merger) placed(group uint32) placed { return placed{m.row(group)[0], group} }

// insert puts a group in its place among those of the run.
func (m *Merger) insert(run int, p placed) {
	m.out.groups = append(m.out.groups, p)
	groups := m.out.groups
	for i := len(groups) - 1; i > run && m.before(p, groups[i-1]); i-- {
		groups[i], groups[i-1] = groups[i-1], p
	}
}

func (m *Merger) before(a, b placed) bool {
	if a.hash != b.hash {
		return a.hash < b.hash
	}
	return m.less(m.row(a.group), m.row(b.group))
}

func (m *Merger) less(a, b []uint64) bool { return m.compare(a, b) < 0 }

// compare is the order of groups: of their hashes, then of their keys.
func (m *Merger) compare(a, b []uint64) int {
	if a[0] != b[0] {
		return cmp.Compare(a[0], b[0])
	}
	return m.decoder.Compare(a, b)
}

const (
	// emitRows is how many groups are emitted at a time, about: large enough to
	// pay for the calls, small enough that what is made of them stays in cache.
	emitRows = 4096
	// emitBytes is the most that their rows take, unless they are emitLeast.
	emitBytes = 256 << 10
	emitLeast = 64
)

// emitter is groups to be emitted, many at a time.
type emitter struct {
	groups  []placed // in order, but for those of the last run
	wrapped []placed // which belong behind all others
	tile    []uint64 // rows of groups in order
	most    int      // rows that are emitted at a time
	emit    func(rows []uint64) error
}

// newEmitter returns an emitter for rows of stride words.
func newEmitter(stride int) emitter {
	return emitter{most: max(emitLeast, min(emitRows, emitBytes/8/stride))}
}

// begin begins the first run.
func (e *emitter) begin() (run int) {
	e.groups = e.groups[:0]
	return 0
}

// settle says that the groups so far are in order, and returns where the next
// ones begin.
func (m *Merger) settle() (run int, err error) {
	if len(m.out.groups) < m.out.most {
		return len(m.out.groups), nil
	}
	return 0, m.flush()
}

// flush emits the groups so far.
func (m *Merger) flush() error {
	stride := m.cfg.Stride
	for groups := m.out.groups; len(groups) > 0; {
		n := min(len(groups), m.out.most)
		m.out.tile = slices.Grow(m.out.tile[:0], n*stride)[:n*stride]
		for i, p := range groups[:n] {
			copyRow(m.out.tile[i*stride:(i+1)*stride], m.row(p.group))
		}
		if err := m.out.emit(m.out.tile); err != nil {
			return err
		}
		groups = groups[n:]
	}
	m.out.groups = m.out.groups[:0]
	return nil
}

// copyRow is copy, four words a step: a call of copy costs more than they do.
func copyRow(dst, src []uint64) {
	for len(src) >= 4 && len(dst) >= 4 {
		a, b, c, d := src[0], src[1], src[2], src[3]
		dst[0], dst[1], dst[2], dst[3] = a, b, c, d
		dst, src = dst[4:], src[4:]
	}
	for i, w := range src {
		dst[i] = w
	}
}

// emitNearly emits rows that are nearly in order, which it puts in order where
// they are.
func (m *Merger) emitNearly(rows []uint64) error {
	stride := m.cfg.Stride
	spare := make([]uint64, stride)
	for at := stride; at < len(rows); at += stride {
		row, to := rows[at:at+stride], at
		for to > 0 && m.less(row, rows[to-stride:to]) {
			to -= stride
		}
		if to < at {
			copyRow(spare, row)
			copy(rows[to+stride:at+stride], rows[to:at])
			copyRow(rows[to:], spare)
		}
	}
	for most := m.out.most * stride; len(rows) > 0; {
		n := min(len(rows), most)
		if err := m.out.emit(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
