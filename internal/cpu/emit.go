package cpu

import "cmp"

// This file is how merged groups come out in order.

// collect emits the groups in order of hash: each run of occupied slots
// sorted, the runs being in order already (see table), and those that have
// wrapped around to the front put after all others.
func (m *Merger) collect() error {
	var wrapped [][]uint64
	run := m.out.begin() // where the current run begins
	slots := m.dir.slots
	i := 0
	for ; i < len(slots) && slots[i] != 0; i++ {
		if row := m.row(m.dir.group(slots[i])); m.dir.home(row[0]) > uint64(i) {
			wrapped = append(wrapped, row)
		} else {
			m.insert(run, row)
		}
	}
	for ; i < len(slots); i++ {
		if slots[i] != 0 {
			m.insert(run, m.row(m.dir.group(slots[i])))
			continue
		}
		var err error
		if run, err = m.out.settle(); err != nil {
			return err
		}
	}
	for _, row := range wrapped {
		m.insert(run, row)
	}
	return m.out.flush()
}

// insert puts a row in its place among those of the run.
func (m *Merger) insert(run int, row []uint64) {
	m.out.rows = append(m.out.rows, row)
	rows := m.out.rows
	for i := len(rows) - 1; i > run && m.less(rows[i], rows[i-1]); i-- {
		rows[i], rows[i-1] = rows[i-1], rows[i]
	}
}

func (m *Merger) less(a, b []uint64) bool { return m.compare(a, b) < 0 }

// compare is the order of groups: of their hashes, then of their keys.
func (m *Merger) compare(a, b []uint64) int {
	if a[0] != b[0] {
		return cmp.Compare(a[0], b[0])
	}
	return m.decoder.Compare(a, b)
}

// emitRows is how many groups are emitted at a time, about: large enough to
// pay for the calls, small enough that what is made of them stays in cache.
const emitRows = 4096

// emitter collects rows and emits them, many at a time.
type emitter struct {
	rows [][]uint64
	emit func(rows [][]uint64) error
}

func (e *emitter) begin() int {
	e.rows = e.rows[:0]
	return 0
}

// settle says that the rows so far are in order, and returns where the next
// ones begin.
func (e *emitter) settle() (int, error) {
	if len(e.rows) < emitRows {
		return len(e.rows), nil
	}
	return 0, e.flush()
}

func (e *emitter) flush() error {
	for rows := e.rows; len(rows) > 0; {
		n := min(len(rows), emitRows)
		if err := e.emit(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	e.rows = e.rows[:0]
	return nil
}
