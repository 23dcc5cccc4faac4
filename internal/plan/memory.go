package plan

import (
	"math"

	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/partition"
)

// Memory is how the memory of a query is shared out, in bytes.
type Memory struct {
	Limit  int64 // of all; 0: none, and so are the others
	Read   int64 // for a worker to read and decode its columns
	Worker int64 // for a worker's groups: table, pages, values; of all groupings
	Sets   int64 // the part of it for groupings by the keys and a distinct value
	Table  int64 // the most of it that the table may take
	Pages  int64 // for pages that are being filled, over all workers
	Merge  int64 // for a goroutine that merges partitions
	Output int64 // for results that wait to be read
	Sort   int64 // for a goroutine's rows to be put in order; 0: there is no order
	Spill  bool  // groups go to disk when memory is short

	begin int64 // the least limit for that many workers
}

// Shares of the memory that is left after reading. q10 of db-benchmark at limits from 512 MiB to
// 8 GiB did not contradict them (docs/experiments/0004).
const (
	mergeShare  = 4  // a quarter: for the rows that are merged at a time
	outputShare = 16 // and a sixteenth for results
	sortShare   = 8  // an eighth: rows that are sorted at a time
	tableShare  = 2  // half of the memory of a worker, while it reads
	// pageShare: an eighth: pages being filled, half empty; or what the most partitions need, if
	// that is less
	pageShare = 8
	// setsShare: where all aggregates are of distinct values, all but a quarter: groupings by these
	// come first and are larger
	setsShare = 4

	// Finished records that wait for the reader have leastOutput bytes at most, or outputEach for
	// each goroutine if that is more. While the reader reads one range of partitions, goroutines
	// make the records of others, a few megabytes each (1e8 groups in 2^11 partitions: 4 MB). Half
	// of the room is for those; a goroutine that finds no room waits.
	leastOutput = 64 << 20
	outputEach  = 16 << 20
	// mostMerge is room for one of 2^12 partitions of a terabyte of groups: more would only be
	// taken from reading. An eighth of 8 GiB in its place had q10 write 1.9 GB to disk, and this
	// none (docs/experiments/0004). Less matters where partitions are larger: these are divided
	// again, which writes their groups once more.
	mostMerge = 256 << 20
	// mostSort makes runs of 128 MiB, and a merge holds a block of 256 KiB of each, so that 512 of
	// them, 64 GiB, are merged at once. With half as much it is 16 GiB of rows for each goroutine,
	// and more rows are written once more; twice as much is only taken from reading. Sorters take
	// more where no other owner may want it (sorterMemory).
	mostSort = 128 << 20
)

// Needs is the least memory of a worker. Tests make it small so that few rows spill.
type Needs struct {
	// Worker is what it holds beside its reader's buffers and its groups: rows of a batch, vectors
	// of a batch, blocks to write and to read.
	Worker int64
	Set    int64 // for each grouping by a distinct value: vectors of a batch, blocks to write
	// Groups is what its groups need at least: a table, a page for each of few partitions, the
	// groups of one that is merged.
	Groups int64
}

var defaultNeeds = Needs{Worker: 2*partition.DiskBytes + 1<<20, Set: partition.DiskBytes + 1<<19, Groups: 4 << 20}

// sharedShare is the part of the memory of a grouping by a distinct value that a shared set may
// have, and leastShared the least for which there is one: 1e6 values of 16 bytes. Values that do
// not fit go to the workers of the inner run.
const (
	sharedShare = 4
	leastShared = 16 << 20
)

// groupings counts the groupings of a query.
type groupings struct {
	keySets int  // the number of sets of the keys that are grouped by, one or more
	ordered bool // the result is put in order
	sets    int  // groupings by the keys and a distinct value
	own     bool // the query has other aggregates, or none at all
}

// share shares out limit bytes among `threads` workers or fewer, each of which
// needs `read` bytes for its columns. It returns how many there may be.
func (w Needs) share(limit int64, threads int, read int64, columns int, g groupings) (Memory, int, error) {
	if limit == 0 {
		return Memory{Output: mostOutput(threads)}, threads, nil
	}
	m := Memory{Limit: limit, Read: read, Spill: true}
	sets, keySets := int64(g.sets), int64(max(g.keySets, 1))
	fixed := read + keySets*(w.Worker+sets*w.Set)
	need := func(threads int) int64 { return int64(threads) * (fixed + keySets*(1+sets)*w.Groups) * 4 / 3 }
	for threads > 1 && need(threads) > limit {
		threads--
	}
	if need(1) > limit {
		return m, 0, &NeedError{Limit: limit, Need: need(1), Columns: columns}
	}
	n := int64(threads)
	m.begin = need(threads)
	rest := limit - n*fixed
	m.Merge = min(rest/mergeShare/n, mostMerge)
	m.Output = min(rest/outputShare, mostOutput(threads))
	if g.ordered {
		m.Sort = min(rest/sortShare/n, mostSort)
	}
	scan := rest - n*(m.Merge+m.Sort) - m.Output
	m.Worker = scan / n
	m.Table = m.Worker / tableShare
	m.Pages = min(scan/pageShare, n*keySets*partition.MostOpenBytes)
	switch {
	case g.sets > 0 && g.own:
		m.Sets = m.Worker - m.Worker/(1+sets)
	case g.sets > 0:
		m.Sets = m.Worker - m.Worker/setsShare
	}
	return m, threads, nil
}

// needFor is a memory limit that has room for one large group, with its bytes of values and of
// result, beside what goroutines merge and sort at the same time and the records that wait.
func (m Memory) needFor(threads int, values, result int64) int64 {
	const parts = mergeShare * outputShare * sortShare
	taken := int64(parts/mergeShare + parts/outputShare)
	if m.Sort > 0 {
		taken += parts / sortShare
	}
	group := values + values/looseShare + result
	most := int64(threads)*(mostMerge+m.Sort) + mostOutput(threads)
	return m.begin + group + min(group*taken/(parts-taken), most)
}

// looseShare: the pages and blobs that values lie in take up to 1/looseShare more than the values.
// A limit that is too small by as much is refused later, by the budget.
const looseShare = 8

// mostOutput is the most memory for the results that goroutines make.
func mostOutput(threads int) int64 { return max(leastOutput, int64(threads)*outputEach) }

// HeldBack is the memory that workers leave while they read, because it is needed after that. The
// buffers that they read with are free by then, and so count towards it.
func (m Memory) HeldBack(threads int) int64 {
	return max(0, m.Later(threads)-int64(threads)*m.Read)
}

// Later is the memory that merging, sorting and output are promised.
func (m Memory) Later(threads int) int64 {
	return int64(threads)*(m.Merge+m.Sort) + m.Output
}

// AfterMerge is the memory that sorting and output are promised while groups are merged.
func (m Memory) AfterMerge(threads int) int64 { return int64(threads)*m.Sort + m.Output }

// BatchBytes is how many bytes the strings of a result batch may have: some
// batches wait, and each is copied into a record.
func (m Memory) BatchBytes() int { return int(max(min(m.Output, leastOutput)/8, 64<<10)) }

// ScratchBytes is the memory in which a goroutine sorts the values of a group while it merges the
// partition of the group: a quarter of Merge.
func (m Memory) ScratchBytes() int { return int(m.Merge / 4) }

// Shares is the memory of the grouping by the keys, for the executor; of one worker of keySets
// in a thread.
func (m Memory) Shares(keySets int) cpu.Memory { return m.share(m.Worker-m.Sets, keySets) }

// SetShares is the same for one of `sets` groupings by the keys and a distinct value, less the
// bytes that a thread has in a shared set.
func (m Memory) SetShares(sets int, shared int64, keySets int) cpu.Memory {
	if m.Worker == 0 {
		return cpu.Memory{}
	}
	return m.share(m.Sets/int64(sets)-shared, keySets)
}

// SharedSet is the bytes that a set shared by all threads may have, for one of `sets` groupings, at
// least `least`; 0: there is too little memory.
func (m Memory) SharedSet(sets, threads int, least int64) int64 {
	if m.Worker == 0 {
		return math.MaxInt64
	}
	bytes := m.Sets / int64(sets) / sharedShare * int64(threads)
	if bytes < least {
		return 0
	}
	return bytes
}

// share is the memory of one of keySets workers for a grouping with `worker` bytes of Worker.
func (m Memory) share(worker int64, keySets int) cpu.Memory {
	if m.Worker == 0 {
		return cpu.Memory{}
	}
	part := float64(worker) / float64(m.Worker)
	each := int64(max(keySets, 1))
	return cpu.Memory{Worker: worker / each, Table: int64(part*float64(m.Table)) / each, Pages: int64(part * float64(m.Pages)), Merge: m.Merge}
}
