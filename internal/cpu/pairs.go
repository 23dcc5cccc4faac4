package cpu

import (
	"math/bits"
	"math/rand/v2"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/partition"
)

// pairs is the different values of groups whose keys have texts, as one worker meets them: the
// number that a group has in the worker's table, and the value. A group of an inner run would hold
// the texts again for each value, and be looked up by them twice.
//
//	rows ──▶ table ──▶ number of the group ┐
//	     ──▶ word of the value ────────────┴─▶ recent: drops pairs that came shortly before ──▶ partitions, by hash of keys and value
//
// At the end of the input the groups of all workers are numbered anew, as one, and the different
// pairs of each partition are counted by those numbers (pairs_number.go, pairs_fold.go).
//
// PAIRS-TABLE: a number holds as long as the table has its groups. Before these leave it, and when
// memory for pairs is refused, they become rows of the inner worker (unpair), to which all that
// comes later goes. Then those of all workers do at the end: a pair may be with both.
type pairs struct {
	*pairing
	encoder *key.Encoder
	value   [1]column.Vector
	sel     []int32
	buf     column.Buffer
	numbers []uint32
	rows    []uint64        // of a batch
	recent  []uint64        // the last pair of each hash: recentBits of it
	pool    *partition.Pool // memory of the partitions
	// nil until there is a pair. A row is top half of a hash | number, value
	buckets *partition.Buckets
	set     pairSet
	unique  []uint64 // the different pairs of a partition: scratch of dropIn
	n, next int      // pairs in partitions, and at how many those that came before are dropped
	took    bool     // the rows of the batch
}

// pairing is the common part of the pairs of all workers.
type pairing struct {
	layout *key.Layout // of the value
	intern *key.Interner
	seed   [2]uint64
	bits   atomic.Uint32 // of the hash that choose the partition; 0: there are no pairs
	input  int64         // rows of it; -1: not known
	most   int64         // bytes that a worker's may take
	from   budget.Lender
	closed atomic.Bool // some worker has none any more
}

const (
	pairWords = 2
	// pairBytes is how many bytes the pairs of a partition should have: the set that they are
	// entered into stays in the cache.
	pairBytes = 512 << 10
	// leastPairBits and mostPairBits bound how many partitions there are, the former also where
	// rows are not known: four for each of 16 workers, and 1 GiB of pairs in partitions of
	// pairBytes. Partitions of more pairs are larger.
	leastPairBits, mostPairBits = 6, 11
	// firstRepeated is at how many pairs those are dropped that came before, and then at twice as
	// many as are left, or four times where hardly any were.
	firstRepeated = 64 << 10
	fewRepeated   = 4 // repeated pairs are few if fewer than one pair in this number is repeated
)

// MayPair reports whether values of a layout of their own can be paired with the numbers of groups
// that have such keys, and are to be: keys without texts are better held in a shared set.
func MayPair(keys, value *key.Layout) bool {
	return keys.HasRefs() && value.Words == 1 && !value.HasRefs()
}

// openPairs makes ready for the pairs of a distinct value.
func (r *Run) openPairs(d *inner) {
	d.pairs = &pairing{
		layout: d.Pair, intern: r.cfg.Intern, seed: [2]uint64{rand.Uint64(), rand.Uint64() | 1}, input: d.Config.Rows,
		most: d.Shared / int64(max(r.cfg.Threads, 1)), from: d.Config.Budget,
	}
}

func newPairs(p *pairing) *pairs {
	n := &pairs{
		pairing: p, encoder: key.NewEncoder(p.layout, p.intern), next: firstRepeated,
		recent: make([]uint64, pairWords<<recentBits),
	}
	for i := range n.recent {
		n.recent[i] = uint64(noGroup) // no group has that number
	}
	n.pool = partition.NewPool(pairWords, n.memory())
	return n
}

// memory lends the memory of partitions, up to the worker's part.
func (p *pairs) memory() budget.Lender {
	return budget.Checked(p.from, func(bytes int64) error {
		if held := p.pool.Bytes() + int64(8*len(p.set.memory)); held+bytes > p.most {
			return errShareUsed
		}
		return nil
	})
}

// close lets go of all pairs.
func (p *pairs) close() {
	if p != nil {
		p.pool.Reset()
		p.set.drop()
	}
}

// open makes the partitions. The first worker to come chooses their number, by the rows of the
// input (-1: not known).
func (p *pairs) open(rows int64) {
	most := uint32(max(bits.Len64(uint64(p.most/(8*partition.PageBytes))), 1))
	n := min(uint32(bits.Len64(uint64(max(rows, 0))*8*pairWords/pairBytes)), mostPairBits)
	p.bits.CompareAndSwap(0, max(min(max(n, leastPairBits), most), 1))
	p.buckets = partition.New(0, uint(p.bits.Load()), p.pool, nil)
}

// add adds the rows of a batch, which belong to groups of the table. An error may tell that memory
// was refused: some of them may have been added.
func (p *pairs) add(t *table, groups []uint32, value *column.Vector) error {
	v := &p.value[0]
	*v = *value
	if v.Null != nil {
		if p.sel = nullRows(p.sel[:0], v.Null[:len(groups)], false); len(p.sel) < len(groups) {
			groups = p.pick(groups)
			*v = column.Gather(value, p.sel, &p.buf)
		}
		v.Null = nil
	}
	p.encoder.Encode(p.value[:], len(groups))
	if err := p.encoder.Err(); err != nil {
		return err
	}
	if err := p.intern.Settle(); err != nil {
		return err
	}
	p.rows = sized(p.rows, pairWords*len(groups))
	rows := p.rows[:pairWords*p.filter(t, groups)]
	if _, err := p.buckets.Scatter(rows); err != nil {
		return err
	}
	p.n += len(rows) / pairWords
	if p.n >= p.next {
		return p.dropRepeated()
	}
	return nil
}

// pick is the groups of the rows that are selected.
func (p *pairs) pick(groups []uint32) []uint32 {
	p.numbers = sized(p.numbers, len(p.sel))
	for i, row := range p.sel {
		p.numbers[i] = groups[row]
	}
	return p.numbers
}

// filter makes rows of the pairs that are not recent, and returns how many they are.
func (p *pairs) filter(t *table, groups []uint32) (n int) {
	words, hashes, stride := p.encoder.Words[0][:len(groups)], t.rows.Rows, t.rows.Stride
	rows, recent := p.rows[:pairWords*len(groups)], p.recent[:pairWords<<recentBits]
	for i, g := range groups {
		x := words[i]
		h := key.Mum(key.Mum(hashes[int(g)*stride]^p.seed[0], p.seed[1])^x, p.seed[1])
		first := h&^(1<<32-1) | uint64(g)
		old := recent[pairWords*(h&(1<<recentBits-1)):][:pairWords]
		rows[pairWords*n], rows[pairWords*n+1] = first, x
		if (old[0]^first)|(old[1]^x) != 0 {
			n++
		}
		old[0], old[1] = first, x
	}
	return n
}

// dropRepeated drops the pairs that came before.
func (p *pairs) dropRepeated() error {
	before := p.n
	p.n = 0
	for part := range p.buckets.Partitions() {
		if err := p.dropIn(part); err != nil {
			return err
		}
	}
	p.next = 2 * p.n
	if before-p.n < before/fewRepeated {
		p.next = 4 * p.n
	}
	p.next = max(p.next, firstRepeated)
	return nil
}

// dropIn drops the pairs of a partition that came before.
func (p *pairs) dropIn(part int) error {
	if err := p.set.begin(p.buckets.Rows(part), p.memory()); err != nil {
		return err
	}
	p.unique = p.unique[:0]
	var numbers [pairsAtOnce]uint32
	for _, page := range p.buckets.Pages(nil, part) {
		for len(page) > 0 {
			some := page[:min(len(page), pairWords*pairsAtOnce)]
			page = page[len(some):]
			ids := numbers[:len(some)/pairWords]
			for i := range ids {
				ids[i] = uint32(some[pairWords*i])
			}
			for _, i := range p.set.enter(ids, some) {
				p.unique = append(p.unique, some[pairWords*i], some[pairWords*i+1])
			}
		}
	}
	p.n += len(p.unique) / pairWords
	p.buckets.Release(part)
	_, err := p.buckets.Scatter(p.unique) // into pages that were released
	return err
}

// addPairs gives the rows of a batch, which belong to w.groups, to the pairs of each distinct
// value. Where memory is refused there are none from then on.
func (w *Worker) addPairs(n int) error {
	if w.sets == nil || w.part > 0 {
		return nil
	}
	for i := range w.sets.of {
		s := &w.sets.of[i]
		if s.pairs == nil {
			continue
		}
		if s.pairs.buckets == nil {
			s.pairs.open(w.rowsOf(s.pairs.input))
		}
		if err := s.pairs.add(w.table, w.groups[:n], &s.value); err != nil {
			if err := w.unpair(s); err != nil {
				return err
			}
			continue
		}
		s.pairs.took = true
	}
	return nil
}

// rowsOf is how many of some rows of the input pass the filter, by the rows that the worker has
// read.
func (w *Worker) rowsOf(rows int64) int64 { return int64(float64(rows) * w.selectivity()) }
