package cpu

import (
	"context"
	"errors"
	"math/bits"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// Merger merges partitions, one after the other or small ones as one, reusing its memory. One a
// goroutine. Groups that a device holds are read from it; else a device may aggregate a
// partition, and what it leaves is merged (device.go).
//
// The rows of a partition lie in pages and in blocks. Those in pages are
// merged where they are: the first row of a key becomes its group, later ones
// are combined into it. Blocks are read one at a time, by the feedback loading
// of EGA (paper 003, §4.2.2): as long as the directory has room for a
// block of nothing but new groups, it is loaded; rows whose group exists are
// combined into it, the others are appended to pages of the merger. So what
// must fit in memory is the groups of a partition, not its rows. When they do
// not, the partition is divided (divide.go), or sorted if that may be in vain
// (sorted.go).
type Merger struct {
	run     *Run
	cfg     *Config // of the run
	sources []*partition.Buckets
	decoder key.Decoder

	in       source
	counts   bool   // groups are counted, not emitted
	counted  int64  // rows that were counted
	store    *store // rows from blocks, and their values
	sub      *store // while a partition is divided: where to
	dir      directory
	grows    bool // with its groups: it has no slot for each row in memory (merge_grow.go)
	room     feedback.Load
	n        int        // groups in it
	loaded   int        // rows that made them
	held     int64      // bytes of it
	indexed  int64      // bytes of the index of rows to sort: see growIndex
	paged    int64      // bytes of a long block that is being read
	pages    [][]uint64 // those of in, then those of the store
	merged   int        // pages of in whose rows are in the directory
	tail     []uint64   // the unused part of the last page, if it is the store's
	gathered []uint64   // memory for those of in that lay in tables (IN-PLACE)
	block    partition.Page
	adopted  bool              // an arena owns the memory of block, which is long
	touched  uint64            // the sum of touchLong's reads, so that the compiler keeps them
	hashes   [touchRows]uint64 // scratch: by which rows are looked up
	groups   [touchRows]uint32 // scratch: what they are likely to belong to
	secret   bool              // these were found by seeded hashes
	adds     []int             // the words that join adds, if onlyAdds
	onlyAdds bool
	// hashes of the rows that a partition was divided into: and-ed, or-ed
	moved struct{ all, any uint64 }
	// from which page on they are the merger's, while a device aggregates the partition
	own    int
	out    emitter
	sample sample

	resident Resident // nil: an accelerator holds no groups
	pass     Pass     // nil: there is none for this merger
	// nil: no rows were left in pinned memory
	evicted    func(p merge.Range, bits uint) []EvictedSpan
	evictedErr error // of releasing evicted spans
}

// source is the rows of a partition that have not been merged yet.
type source struct {
	buckets []*partition.Buckets
	numbers merge.Range // of the partitions in them
	shared  uint        // top bits that all its hashes share
	seeded  bool        // it was divided by the seeded hash, whose top bits its rows share
	pages   int
	blocks  []sourceBlock
	evicted []EvictedSpan // by devices (evicted.go)
	loaded  int           // how many of them are with a device, or among the pages
}

type sourceBlock struct {
	partition.Block
	disk *partition.Disk
}

// NewMerger returns a merger for the buckets of all workers.
func (r *Run) NewMerger(buckets []*partition.Buckets) *Merger {
	cfg := r.cfg
	m := &Merger{
		run: r, cfg: cfg, sources: buckets, out: newEmitter(cfg),
		decoder: key.Decoder{Layout: cfg.Keys, Intern: cfg.Intern, Arenas: cfg.Arenas, Base: cfg.Keys.Base()},
	}
	m.store = newStore(cfg, m.groupMemory())
	m.adds, m.onlyAdds = cfg.States.Adds()
	m.block.From = longMemory{m}
	return m
}

// Merge calls emit with the groups of partitions that are merged as one, whole
// rows in order of their hash, some at a time, end to end; they are valid until
// emit returns. The partitions are gone afterwards.
func (m *Merger) Merge(ctx context.Context, p merge.Range, emit func(rows []uint64) error) error {
	last := uint64(0)
	m.out.emit = func(rows []uint64) error {
		if invariant.Enabled {
			m.checkOrder(p, last, rows)
			last = m.cfg.Keys.RowHash(rows[len(rows)-m.cfg.Stride:])
		}
		err := emit(rows)
		m.out.failed = err != nil
		return err
	}
	if m.resident != nil {
		return m.readResident(p)
	}
	all := m.sources[0].Bits()
	m.begin(m.sources, p, all-uint(bits.TrailingZeros(uint(p.N))))
	if err := m.gatherInPlace(); err != nil {
		return err
	}
	m.takeEvicted(p, all)
	return m.merge(ctx)
}

// Prefetch tells that partitions will be merged soon.
func (m *Merger) Prefetch(p merge.Range) {
	for _, b := range m.sources {
		for n := range p.N {
			b.Prefetch(p.First + n)
		}
	}
}

// Close lets go of the merger's memory.
func (m *Merger) Close() error {
	m.freeDirectory()
	m.block.Free()
	hostmem.Free(m.gathered)
	m.gathered = nil
	err := m.store.close()
	if m.resident != nil {
		err = errors.Join(err, m.resident.Close())
	}
	if m.pass != nil {
		err = errors.Join(err, m.pass.Close())
	}
	return errors.Join(err, m.evictedErr)
}

// checkOrder checks that groups are in order of hash, behind one with the hash
// last, and all of partitions p.
func (m *Merger) checkOrder(p merge.Range, last uint64, rows []uint64) {
	stride := m.cfg.Stride
	invariant.Check(last <= m.cfg.Keys.RowHash(rows), "RESULT-ORDER")
	for at := 0; at < len(rows); at += stride {
		invariant.Check(at == 0 || m.less(rows[at-stride:at], rows[at:at+stride]), "RESULT-ORDER")
		n := m.cfg.Keys.RowHash(rows[at:]) >> (64 - m.sources[0].Bits())
		invariant.Check(uint64(p.First) <= n && n < uint64(p.First+p.N), "HASH-BITS")
	}
}

// merge merges the partitions that have begun as one.
func (m *Merger) merge(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if m.accelerated() {
		all, err := m.runPass(ctx)
		if err != nil { // the device may still read kept rows
			m.in.evicted, m.in.loaded = nil, 0
		}
		if err == nil && all {
			err = m.emitPass()
		}
		if err != nil || all {
			m.end()
			return err
		}
	} else if err := m.pageEvicted(); err != nil {
		m.end()
		return err
	}
	err := m.load(ctx)
	switch {
	case err == nil && m.dir.seeded && !m.counts:
		err = m.emitSorted(ctx)
	case err == nil:
		err = m.collect()
	}
	switch {
	case !refused(err) || m.out.failed || m.store.disk == nil: // emit has memory of its own
	case m.dir.seeded || m.in.shared == 64 || m.crowds():
		return m.mergeSorted(ctx)
	default:
		return m.divide(ctx)
	}
	m.end()
	return err
}

// begin makes ready to merge partitions p of the buckets, whose hashes share their top
// bits. Their blocks are the merger's from now on.
func (m *Merger) begin(buckets []*partition.Buckets, p merge.Range, shared uint) {
	m.in = source{buckets: buckets, numbers: p, shared: shared, blocks: m.in.blocks[:0]}
	m.pages, m.tail, m.merged = m.pages[:0], nil, 0
	for _, b := range buckets {
		for n := range p.N {
			// A bucket's last page may be part full: numbering rows by page
			// keeps that apart from its successor's rows.
			m.pages = b.Pages(m.pages, p.First+n)
			for _, blk := range b.TakeBlocks(p.First + n) {
				m.in.blocks = append(m.in.blocks, sourceBlock{blk, b.Disk()})
			}
		}
	}
	m.in.pages = len(m.pages)
}

// end lets go of what the partition held.
func (m *Merger) end() {
	for _, b := range m.in.buckets {
		for n := range m.in.numbers.N {
			b.Release(m.in.numbers.First + n)
		}
	}
	m.releaseEvicted()
	m.pages, m.tail = m.pages[:0], nil
	m.in.pages, m.merged = 0, 0
	m.store.arena.Reset()
	if m.store.pool.Bytes() > m.cfg.Memory.Merge/2 {
		m.store.pool.Reset()
	} else {
		m.store.pool.Recycle()
	}
}

// load enters all rows of the partition. If memory is refused, the directory
// names the groups so far, if there is one; waiting and in.blocks are what is
// not in it.
func (m *Merger) load(ctx context.Context) error {
	err := m.reset(m.rowsInMemory())
	if refused(err) && m.crowds() {
		err = m.beginSmall()
	}
	if err != nil {
		return err
	}
	for m.merged < m.in.pages {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := m.enterPage(m.merged); err != nil {
			return err
		}
		m.merged++
	}
	for len(m.in.blocks) > 0 {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := m.loadBlock(); err != nil {
			return err
		}
	}
	return nil
}

// waiting is the pages of the partition whose rows have not been entered yet.
func (m *Merger) waiting() [][]uint64 { return m.pages[m.merged:m.in.pages] }

// rowsInMemory is how many rows they have.
func (m *Merger) rowsInMemory() (n int) {
	for _, page := range m.waiting() {
		n += len(page) / m.cfg.Stride
	}
	return n
}

// reset empties the directory and makes it large enough for the rows in
// memory, and for those of the blocks as far as the memory for it goes.
func (m *Merger) reset(resident int) error {
	rows := resident
	for _, b := range m.in.blocks {
		rows += int(b.Rows)
	}
	if m.cfg.Memory.Merge > 0 && len(m.in.blocks) > 0 {
		rows = min(rows, resident+int(m.cfg.mergeRoom()/m.cfg.groupBytes()))
	}
	rows = max(rows, 1)
	m.n, m.loaded, m.grows = 0, 0, false
	if room := m.atFirst(rows); room > 0 {
		rows, m.grows = room, true
	}
	slots := 1 << dirBits(rows)
	numbers := m.numbers(slots)
	if len(m.dir.slots) == slots && numbers>>m.dir.groupBits == 0 && m.dir.skip == m.in.shared && m.dir.seeded == m.in.seeded {
		m.dir.empty()
		return nil
	}
	m.freeDirectory()
	if err := m.groupMemory().Draw(int64(slots) * 4); err != nil {
		return err
	}
	dir := newDirectory(rows, numbers, min(m.in.shared, 63))
	dir.seeded = m.in.seeded
	m.setDirectory(dir)
	return nil
}

// numbers is an upper bound of the numbers of groups in a directory of that many slots: each is
// that of a row in pages, of which those of blocks are yet to come.
func (m *Merger) numbers(slots int) int {
	n := (len(m.pages) + 2) << m.store.pool.PageBits
	if len(m.in.blocks) > 0 {
		n += slots // more groups are not loaded (LOAD-MAX)
	}
	return n
}

func (m *Merger) freeDirectory() {
	m.dir.drop()
	m.cfg.Budget.Release(m.held)
	m.held = 0
}

func (m *Merger) row(group uint32) []uint64 {
	page, stride := m.store.pool.PageBits, m.cfg.Stride
	at := int(group) & (1<<page - 1) * stride
	return m.pages[group>>page][at : at+stride : at+stride]
}

// enterPage enters or combines the rows of one page where they are, unless
// memory for what groups then need is refused.
func (m *Merger) enterPage(page int) error {
	rows, stride := m.pages[page], m.cfg.Stride
	if err := m.widen(len(rows) / stride); err != nil {
		return err
	}
	if m.cfg.hasRefs() {
		if err := m.makeRoom(m.cfg.States.CombineNeed(0, len(rows)/stride)); err != nil {
			return err
		}
	}
	m.loaded += len(rows) / stride
	m.dir.allow(len(rows) / stride)
	for group := uint32(page << m.store.pool.PageBits); len(rows) > 0; group += touchRows {
		some := rows[:min(len(rows), touchRows*stride)]
		m.enterRows(some, group)
		rows = rows[len(some):]
	}
	return nil
}

// enterRows enters or combines touchRows rows or fewer, which become the groups from number group
// on where they are new. As in a table, the cache misses of different rows overlap: the slots of
// all rows are looked at first, then the groups that these name; rows that have none so far, or
// another one's, are looked up one by one.
func (m *Merger) enterRows(rows []uint64, group uint32) {
	groups := m.candidates(rows)
	if m.onlyAdds && !m.dir.seeded && !m.cfg.Keys.HasRefs() {
		m.enterFixed(rows, group, groups)
		return
	}
	stride := m.cfg.Stride
	for i, g := range groups {
		row := rows[i*stride : (i+1)*stride : (i+1)*stride]
		if g != noGroup {
			if dst := m.row(g); m.equal(dst, row) {
				m.join(dst, row)
				continue
			}
		}
		slot, hash, dst := m.findAgain(row, i)
		if dst != nil {
			m.join(dst, row)
		} else {
			m.claim(slot, hash, group+uint32(i))
		}
	}
}

// enterFixed is enterRows where rows have no refs and combine by additions: all that there is to
// do for a row, in one loop.
func (m *Merger) enterFixed(rows []uint64, group uint32, groups []uint32) {
	d, pages, adds, stride := &m.dir, m.pages, m.adds, m.cfg.Stride
	base := m.decoder.Base
	end, pageBits := base+m.cfg.Keys.Words, m.store.pool.PageBits&63
	inPage, slots, last := uint32(1)<<pageBits-1, d.slots, uint64(len(d.slots)-1)
	same := func(g uint32, row []uint64) []uint64 {
		at := int(g&inPage) * stride
		dst := pages[g>>pageBits][at : at+stride : at+stride]
		for k := base; k < end; k++ {
			if dst[k] != row[k] {
				return nil
			}
		}
		return dst
	}
	for i, g := range groups {
		row := rows[i*stride : (i+1)*stride : (i+1)*stride]
		var dst []uint64
		if g != noGroup {
			dst = same(g, row)
		}
		if dst == nil {
			hash := m.hashes[i]
			home := d.home(hash)
			s := home
			for ; slots[s] != 0; s = (s + 1) & last {
				if e := slots[s]; d.tagged(e, hash) {
					if dst = same(d.group(e), row); dst != nil {
						break
					}
				}
			}
			d.left -= int((s - home) & last)
			if dst == nil {
				m.claim(s, hash, group+uint32(i))
				continue
			}
		}
		for _, w := range adds {
			dst[w] += row[w]
		}
	}
}

// candidates is the groups that touchRows rows or fewer are likely to belong to
// (directory.candidates).
func (m *Merger) candidates(rows []uint64) []uint32 {
	m.spread()
	groups := m.groups[:len(rows)/m.cfg.Stride]
	hashes := m.hashes[:len(groups)]
	if m.secret = m.dir.seeded; m.secret {
		for i := range hashes {
			hashes[i] = m.hashOf(rows[i*m.cfg.Stride:])
		}
	} else {
		m.cfg.Keys.RowHashes(rows, m.cfg.Stride, hashes)
	}
	m.dir.candidates(hashes, groups)
	if m.cfg.Keys.HasRefs() {
		m.touchLong(rows, groups)
	}
	return groups
}

// spread places the groups by a seeded hash if their look-ups have probed too many slots (CROWDED).
func (m *Merger) spread() {
	if m.dir.crowded() {
		m.dir.seed(func(group uint32) uint64 { return m.cfg.Keys.Secret(m.row(group), m.decoder.Base, m.cfg.Arenas) })
	}
}

// equal reports whether two rows have the same key.
func (m *Merger) equal(a, b []uint64) bool {
	if m.cfg.Keys.HasRefs() {
		return m.cfg.Keys.Equal(a, b, m.decoder.Base, m.cfg.Arenas)
	}
	for k := m.decoder.Base; k < m.decoder.Base+m.cfg.Keys.Words; k++ {
		if a[k] != b[k] {
			return false
		}
	}
	return true
}

// join combines a row into its group.
func (m *Merger) join(dst, row []uint64) {
	if m.onlyAdds {
		m.add(dst, row)
		return
	}
	m.cfg.States.Join(dst, row, m.cfg.Arenas, m.store.arena)
}

// combine is join for a row of a block, whose values are copied.
func (m *Merger) combine(dst, row []uint64) {
	if m.onlyAdds {
		m.add(dst, row)
		return
	}
	m.cfg.States.Combine(dst, row, m.cfg.Arenas, m.store.arena)
}

func (m *Merger) add(dst, row []uint64) {
	for _, w := range m.adds {
		dst[w] += row[w]
	}
}

// find returns the group of a row, or the free slot for it and by which hash it is there.
func (m *Merger) find(row []uint64) (slot, hash uint64, dst []uint64) {
	m.spread()
	return m.findBy(m.hashOf(row), row)
}

// findAgain is find for row i of those whose candidates were found last.
func (m *Merger) findAgain(row []uint64, i int) (slot, hash uint64, dst []uint64) {
	if m.spread(); m.dir.seeded != m.secret {
		return m.findBy(m.hashOf(row), row)
	}
	return m.findBy(m.hashes[i], row)
}

// findBy is find by the hash of the row.
func (m *Merger) findBy(hash uint64, row []uint64) (slot, _ uint64, dst []uint64) {
	s := m.dir.home(hash)
	for ; m.dir.slots[s] != 0; s = m.dir.next(s) {
		e := m.dir.slots[s]
		if !m.dir.tagged(e, hash) {
			continue
		}
		if dst = m.row(m.dir.group(e)); m.equal(dst, row) {
			break
		}
		dst = nil
	}
	m.dir.probed(hash, s)
	return s, hash, dst
}

// touchRows is how many rows are looked up together.
const touchRows = 64

// claim makes a free slot that of a group.
func (m *Merger) claim(slot, hash uint64, group uint32) {
	m.dir.put(slot, hash, group)
	m.n++
}
