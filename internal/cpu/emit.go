package cpu

import (
	"cmp"
	"slices"
)

// This file puts merged groups in order: their rows are copied, end to end and
// nearly in order, to the emitter's memory, and put in order there. Making
// results of them walks over them once for each column, and a copy costs less
// than as many walks over rows that lie anywhere.

const (
	// emitRows is how many groups are emitted at a time: large enough to pay
	// for the calls, small enough that what is made of them stays in cache.
	emitRows = 4096
	// emitBytes is the most that their rows take, and emitShare what part of a
	// merger's memory, unless they are emitLeast. It is part of what a goroutine
	// holds beside its groups.
	emitBytes = 256 << 10
	emitShare = 32
	emitLeast = 64
	// blockSlots is how many slots of a directory are looked at together, about:
	// as many as rows are emitted at a time, or fewer.
	blockSlots = 1 << 10
)

// emitter is groups to be emitted, many at a time.
type emitter struct {
	rows    []uint64 // rows of groups in order
	hashes  []uint64 // of these rows, while they are put in order here
	most    int      // rows that are emitted at a time
	numbers []uint32 // of the groups of a block of slots
	wrapped []uint32 // groups which belong to the last run
	spare   []uint64 // a row
	sorter  sorter
	emit    func(rows []uint64) error
	failed  bool // emit has
	filters []Prefilter
}

// Prefilter leaves out groups that are not wanted before their rows are copied: those whose
// ((row[Word] >> Shift) & Mask) ^ Flip is above Bound, or is Bound unless Equal is set. Some of
// them may be emitted all the same.
type Prefilter struct {
	Word        int
	Shift       uint8
	Mask        uint64
	Flip, Bound uint64
	Equal       bool
}

// SetPrefilters has the merger leave out groups from now on, those that any of the prefilters does.
func (m *Merger) SetPrefilters(list []Prefilter) { m.out.filters = list }

// wanted drops the groups that a prefilter leaves out.
func (m *Merger) wanted(groups []uint32, c Prefilter) []uint32 {
	n, bound := 0, c.Bound
	if c.Equal {
		if bound++; bound == 0 {
			return groups
		}
	}
	in := m.rows()
	for _, g := range groups {
		x := in.row(g)[c.Word]>>(c.Shift&63)&c.Mask ^ c.Flip
		groups[n] = g
		if x < bound {
			n++
		}
	}
	return groups[:n]
}

func newEmitter(cfg *Config) emitter {
	bytes := int64(emitBytes)
	if m := cfg.Memory.Merge; m > 0 {
		bytes = min(bytes, m/emitShare)
	}
	rows := int(bytes) / 8 / cfg.Stride
	return emitter{most: max(emitLeast, min(emitRows, rows)), spare: make([]uint64, cfg.Stride)}
}

// begin begins with the groups of a partition.
func (e *emitter) begin() { e.rows, e.hashes, e.wrapped = e.rows[:0], e.hashes[:0], e.wrapped[:0] }

// collect emits the groups in order of hash. Those of a run of occupied slots
// are in order but for a few, the runs being in order already (see table), and
// those that have wrapped around to the front belong to the last run.
//
// It takes slots in blocks: first the numbers of the groups, then their rows.
// These lie anywhere, and in a loop without decisions the processor waits for
// several of them at a time.
func (m *Merger) collect() error {
	if m.counts {
		m.counted += int64(m.n)
		return nil
	}
	m.out.begin()
	slots := m.dir.slots
	front := 0
	for ; front < len(slots) && slots[front] != 0; front++ {
		g := m.dir.group(slots[front])
		if m.dir.home(m.cfg.Keys.RowHash(m.row(g))) > uint64(front) {
			m.out.wrapped = append(m.out.wrapped, g)
		} else {
			m.insert(m.row(g))
		}
	}
	for slots = slots[front:]; len(slots) > 0; {
		n := min(blockSlots, m.out.most, len(slots))
		for n < len(slots) && slots[n] != 0 { // a block ends where a run does
			n++
		}
		m.insertSlots(slots[:n])
		if slots = slots[n:]; len(slots) == 0 {
			break // those that wrapped around belong among the groups of the last run
		}
		if err := m.settle(); err != nil {
			return err
		}
	}
	return m.emitRest()
}

// insertSlots puts the groups of slots in their places among those so far.
func (m *Merger) insertSlots(slots []uint32) {
	m.out.numbers = slices.Grow(m.out.numbers[:0], len(slots))[:len(slots)]
	numbers, n := m.out.numbers, 0
	for _, e := range slots {
		numbers[n] = m.dir.group(e)
		if e != 0 { // an addition, not a jump: which slots are free cannot be guessed
			n++
		}
	}
	numbers = numbers[:n]
	for _, c := range m.out.filters {
		numbers = m.wanted(numbers, c)
	}
	n = len(numbers)
	stride := m.cfg.Stride
	from := len(m.out.rows)
	m.out.rows = slices.Grow(m.out.rows, n*stride)[:from+n*stride]
	for i, g := range numbers {
		copyRow(m.out.rows[from+i*stride:from+(i+1)*stride], m.row(g))
	}
	m.order(from)
}

// insert puts a row in its place among those so far.
func (m *Merger) insert(row []uint64) {
	from := len(m.out.rows)
	m.out.rows = append(m.out.rows, row...)
	m.order(from)
}

// order puts the rows of the emitter behind its first from words in their places; those before
// are in order, and the others nearly.
func (m *Merger) order(from int) {
	stride, rows := m.cfg.Stride, m.out.rows
	first, n := from/stride, len(rows)/stride
	m.out.hashes = slices.Grow(m.out.hashes[:first], n-first)[:n]
	hashes := m.out.hashes
	m.cfg.Keys.RowHashes(rows[from:], stride, hashes[first:])
	for i := max(first, 1); i < n; i++ {
		h, to := hashes[i], i
		if h > hashes[i-1] {
			continue
		}
		row := rows[i*stride : (i+1)*stride]
		for to > 0 && (h < hashes[to-1] || h == hashes[to-1] && m.decoder.Compare(row, rows[(to-1)*stride:to*stride]) < 0) {
			to--
		}
		if to < i {
			copyRow(m.out.spare, row)
			copy(rows[(to+1)*stride:(i+1)*stride], rows[to*stride:i*stride])
			copyRow(rows[to*stride:], m.out.spare)
			copy(hashes[to+1:i+1], hashes[to:i])
			hashes[to] = h
		}
	}
}

func (m *Merger) less(a, b []uint64) bool { return m.compare(a, b) < 0 }

// compare is the order of groups: of their hashes, then of their keys.
func (m *Merger) compare(a, b []uint64) int {
	if c := cmp.Compare(m.cfg.Keys.RowHash(a), m.cfg.Keys.RowHash(b)); c != 0 {
		return c
	}
	return m.decoder.Compare(a, b)
}

// settle says that no group is to come before those so far: it emits them, but
// for the last ones that are fewer than are emitted at a time.
func (m *Merger) settle() error {
	rows, most := m.out.rows, m.out.most*m.cfg.Stride
	for len(rows) >= most {
		if err := m.out.emit(rows[:most]); err != nil {
			return err
		}
		rows = rows[most:]
	}
	if gone := len(m.out.rows) - len(rows); gone > 0 {
		m.out.rows = m.out.rows[:copy(m.out.rows, rows)]
		if n := gone / m.cfg.Stride; n <= len(m.out.hashes) {
			m.out.hashes = m.out.hashes[:copy(m.out.hashes, m.out.hashes[n:])]
		}
	}
	return nil
}

// emitRest emits all that is left of a partition.
func (m *Merger) emitRest() error {
	for _, g := range m.out.wrapped {
		m.insert(m.row(g))
	}
	if err := m.settle(); err != nil || len(m.out.rows) == 0 {
		return err
	}
	return m.out.emit(m.out.rows)
}

// emitNearly emits rows that come behind those so far, and are in order of hash
// or nearly so; not the last ones that are fewer than are emitted at a time.
func (m *Merger) emitNearly(rows []uint64) error {
	stride := m.cfg.Stride
	ordered := m.out.sorter.order(rows, stride, m.compare)
	if ordered && len(rows) >= m.out.most*stride/2 { // batches worth their calls
		return m.emitOrdered(rows)
	}
	for words := m.out.sorter.words; len(words) > 0; {
		from := len(m.out.rows)
		n := min(len(words), m.out.most-from/stride)
		m.out.rows = slices.Grow(m.out.rows, n*stride)[:from+n*stride]
		m.out.sorter.gather(m.out.rows[from:], rows, words[:n], stride)
		if err := m.settle(); err != nil {
			return err
		}
		words = words[n:]
	}
	return nil
}

// emitOrdered emits rows that are in order, and come behind those so far, from
// where they are, as many at a time as make the fewest batches, all much the same.
func (m *Merger) emitOrdered(rows []uint64) error {
	if len(m.out.rows) > 0 {
		if err := m.out.emit(m.out.rows); err != nil {
			return err
		}
		m.out.rows = m.out.rows[:0]
	}
	n := len(rows) / m.cfg.Stride
	batches := (n + m.out.most - 1) / m.out.most
	for part := range slices.Chunk(rows, (n+batches-1)/batches*m.cfg.Stride) {
		if err := m.out.emit(part); err != nil {
			return err
		}
	}
	return nil
}

// copyRow is copy, four words a step: a call of copy costs more than they do.
func copyRow(dst, src []uint64) {
	for len(src) >= 4 && len(dst) >= 4 {
		a, b, c, d := src[0], src[1], src[2], src[3]
		dst[0], dst[1], dst[2], dst[3] = a, b, c, d
		dst, src = dst[4:], src[4:]
	}
	for i, w := range src { //nolint:staticcheck // a copy is a call
		dst[i] = w
	}
}
