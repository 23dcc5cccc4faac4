package cpu

import (
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/partition"
)

// Merger merges partitions, one after the other, reusing its memory. One a
// goroutine.
type Merger struct {
	cfg     *Config
	buckets []*partition.Buckets
	decoder key.Decoder
	dir     directory
	pages   [][]uint64
	page    uint // a page has 2^page rows
	stride  int
	held    int64 // bytes of the directory
	rows    [][]uint64
}

// NewMerger returns a merger for the buckets of all workers.
func NewMerger(cfg *Config, buckets []*partition.Buckets) *Merger {
	return &Merger{
		cfg: cfg, buckets: buckets, stride: cfg.Pool.Stride, page: cfg.Pool.PageBits,
		decoder: key.Decoder{Layout: cfg.Keys, Intern: cfg.Intern, Arenas: cfg.Arenas, Base: 1},
	}
}

// Merge returns the groups of partition p, whole rows in order of their hash.
// They stay valid until the next Merge or Release.
func (m *Merger) Merge(p int) ([][]uint64, error) {
	m.pages = m.pages[:0]
	n := 0
	for _, b := range m.buckets {
		// A bucket's last page may be part full: numbering rows by page
		// keeps that apart from its successor's rows.
		m.pages = b.Pages(m.pages, p)
		n += b.Rows(p)
	}
	if err := m.reset(max(1, n)); err != nil {
		return nil, err
	}
	for page := range m.pages {
		m.addPage(page)
	}
	m.collect()
	if invariant.Enabled {
		m.checkOrder(p)
	}
	return m.rows, nil
}

// checkOrder checks that the groups are in order of hash, each once, and all
// of partition p.
func (m *Merger) checkOrder(p int) {
	for i, row := range m.rows {
		invariant.Check(i == 0 || m.less(m.rows[i-1], row), "HASH-ORDER")
		invariant.Check(row[0]>>(64-m.skip()) == uint64(p), "HASH-BITS")
	}
}

// Release lets go of partition p in all buckets.
func (m *Merger) Release(p int) {
	for _, b := range m.buckets {
		b.Release(p)
	}
}

// Close lets go of the merger's own memory.
func (m *Merger) Close() {
	held := m.held
	m.dir.drop()
	m.held = 0
	_ = m.cfg.Grow(-held) // only asking for more can fail
}

// reset empties the directory and makes it large enough for n groups.
func (m *Merger) reset(n int) error {
	slots, numbers := 1<<dirBits(n), len(m.pages)<<m.page
	if len(m.dir.slots) == slots && numbers>>m.dir.groupBits == 0 {
		clear(m.dir.slots)
		return nil
	}
	if err := m.cfg.Grow(int64(slots)*4 - m.held); err != nil {
		return err
	}
	m.held = int64(slots) * 4
	m.dir.drop()
	m.dir = newDirectory(n, numbers, m.skip())
	return nil
}

// skip is the number of hash bits that the groups of a partition share.
func (m *Merger) skip() uint { return m.buckets[0].Bits() }

func (m *Merger) row(group uint32) []uint64 {
	at := int(group) & (1<<m.page - 1) * m.stride
	return m.pages[group>>m.page][at : at+m.stride]
}

// addPage enters or combines the rows of one page.
func (m *Merger) addPage(page int) {
	rows := m.pages[page]
	for i, at := 0, 0; at < len(rows); i, at = i+1, at+m.stride {
		m.enter(rows[at:at+m.stride:at+m.stride], uint32(page<<m.page+i))
	}
}

// enter finds the group of a row and combines the row into it, or makes the
// row its group.
func (m *Merger) enter(row []uint64, group uint32) {
	hash := row[0]
	s := m.dir.home(hash)
	for ; m.dir.slots[s] != 0; s = m.dir.next(s) {
		e := m.dir.slots[s]
		if !m.dir.tagged(e, hash) {
			continue
		}
		if dst := m.row(m.dir.group(e)); m.cfg.Keys.Equal(dst, row, 1, m.cfg.Arenas) {
			m.cfg.States.Combine(dst, row, m.cfg.Arenas, nil)
			return
		}
	}
	m.dir.slots[s] = m.dir.entry(hash, group)
}

// collect lists the groups in order of hash: each run of occupied slots
// sorted, the runs being in order already (see table), and those that have
// wrapped around to the front put after all others.
func (m *Merger) collect() {
	m.rows = m.rows[:0]
	var wrapped [][]uint64
	slots := m.dir.slots
	i := 0
	for ; i < len(slots) && slots[i] != 0; i++ {
		if row := m.row(m.dir.group(slots[i])); m.dir.home(row[0]) > uint64(i) {
			wrapped = append(wrapped, row)
		} else {
			m.insert(0, row)
		}
	}
	run := len(m.rows) // where the current run begins
	for ; i < len(slots); i++ {
		if slots[i] == 0 {
			run = len(m.rows)
		} else {
			m.insert(run, m.row(m.dir.group(slots[i])))
		}
	}
	for _, row := range wrapped {
		m.insert(run, row)
	}
}

// insert puts a row in its place among m.rows[run:].
func (m *Merger) insert(run int, row []uint64) {
	m.rows = append(m.rows, row)
	for i := len(m.rows) - 1; i > run && m.less(m.rows[i], m.rows[i-1]); i-- {
		m.rows[i], m.rows[i-1] = m.rows[i-1], m.rows[i]
	}
}

func (m *Merger) less(a, b []uint64) bool {
	if a[0] != b[0] {
		return a[0] < b[0]
	}
	return m.decoder.Compare(a, b) < 0
}
