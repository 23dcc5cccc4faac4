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

func (m *Merger) row(group uint32) []uint64 { p := m.rows(); return p.row(group) }

// pagedRows is rows in pages, by number: those of a page have numbers end to end.
type pagedRows struct {
	pages  [][]uint64
	bits   uint // a page has 2^bits rows
	stride int
}

// rows is the rows of the merger's pages. Loops over many rows keep it.
func (m *Merger) rows() pagedRows {
	return pagedRows{m.pages, m.store.pool.PageBits & 63, m.cfg.Stride}
}

func (p *pagedRows) row(number uint32) []uint64 {
	at := int(number) & (1<<(p.bits&63) - 1) * p.stride
	return p.pages[number>>(p.bits&63)][at : at+p.stride : at+p.stride]
}
