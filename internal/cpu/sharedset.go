package cpu

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/key"
)

// sharedSet is the groups of an inner run, or those of one grouping set, as one set, which all
// workers enter keys into while they read (member.go). A key is there once for all workers, so that
// memory is touched for each different value and not for each row, and nothing is left to be
// merged: the set is partitioned for the sake of its locks alone.
//
//	partition  the keys whose hashes begin with the same 8 bits: a lock, and slots
//	slot       the words of a key; all zeros: none, the key of zeros being kept aside
//	line       slots that are looked at before those behind them: of a cache line, if keys have one word or two; else one slot
//	hash       of the key words, seeded: which keys collide cannot be known outside the process
//
// Keys have no refs: their words are all of them (KEY-EXACT).
//
// When memory is refused, or nearly all keys are new, the set is closed: keys that come from then
// on go to the inner workers, and at the end of the input those of the set do too (fold_set.go).
// Until then a key may be with both.
type sharedSet struct {
	parts  [setParts]setPart // whole cache lines, as long as they come first
	words  int               // of a key
	seed   setSeed
	rows   int64 // of the input; -1: not known
	closed atomic.Bool
	zeros  atomic.Bool // the key of zeros was entered
	_      [64]byte    // apart from the fields above, which all workers read for each key

	memory *slabs

	mu      sync.Mutex
	tallies []*tally
}

const (
	setBits  = 8
	setParts = 1 << setBits

	leastSlots = 64 // of a partition: all have 128 KiB of keys of a word
	// slots are a multiple of it: their first words, if there are no others, are a cache line
	lineSlots = 8
)

// setPart is a partition of a shared set. What its lock guards comes behind it.
type setPart struct {
	mu    sync.Mutex
	slots []uint64
	n     int // keys in them

	// what was read of slots before keys are looked up, which else the compiler may leave out
	touched uint64
	_       [80]byte
}

// tally is what one goroutine has counted, in cache lines of its own. Others read it now and then.
// With counters that all workers added to, 16 of them spent a quarter of their time waiting for the
// line of these counters.
type tally struct {
	read  atomic.Int64 // rows of the input
	came  atomic.Int64 // keys that were entered, the same ones again included
	found atomic.Int64 // of them: that were there
	_     [104]byte
}

// tally makes the tally of a goroutine.
func (s *sharedSet) tally() *tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := new(tally)
	s.tallies = append(s.tallies, t)
	return t
}

// counted is what all have counted.
func (s *sharedSet) counted() (read, came, found int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tallies {
		read, came, found = read+t.read.Load(), came+t.came.Load(), found+t.found.Load()
	}
	return read, came, found
}

// errSetClosed is what entering meets in a set that is closed.
var errSetClosed = errors.New("the set is closed")

// newSharedSet returns a set for keys of `words` words, from `rows` rows (-1: not known).
func newSharedSet(words int, rows int64, memory *slabs) *sharedSet {
	return &sharedSet{words: words, rows: rows, seed: setSeed{rand.Uint64(), rand.Uint64() | 1}, memory: memory}
}

// setSeed is what hashes depend on beside the key.
type setSeed [2]uint64

// hash1 is the hash of a key of one word.
func (s setSeed) hash1(w uint64) uint64 { return key.Mum(w^s[0], s[1]) }

// hash2 is the hash of a key of two words.
func (s setSeed) hash2(a, b uint64) uint64 { return key.Mum(key.Mum(a^s[0], s[1])^b, s[1]) }

// hash is the hash of a key.
func (s setSeed) hash(words []uint64) uint64 {
	h := s[0]
	for _, w := range words {
		h = key.Mum(h^w, s[1])
	}
	return h
}

// lock locks a partition, or reports false if another worker has it and there is no need to wait.
func (s *sharedSet) lock(part int, wait bool) bool {
	if wait {
		s.parts[part].mu.Lock()
		return true
	}
	return s.parts[part].mu.TryLock()
}

// enter enters some keys of a partition that is locked, end to end, unless the set is closed; it
// closes it when memory for them is refused.
func (s *sharedSet) enter(part int, keys []uint64, t *tally) error {
	p := &s.parts[part]
	if s.closed.Load() {
		return errSetClosed
	}
	n := len(keys) / s.words
	if p.n+n > s.room(p) {
		if err := s.growPart(p, p.n+n); err != nil {
			s.closed.Store(true)
			return errSetClosed
		}
	}
	before := p.n
	s.enterSlots(p, keys)
	t.came.Add(int64(n))
	t.found.Add(int64(n - (p.n - before)))
	return nil
}

// room is how many keys a partition may have: its slots are three quarters full then.
func (s *sharedSet) room(p *setPart) int { return len(p.slots) / s.words * 3 / 4 }

const (
	// leastGrowth and mostGrowth is how many times its slots a partition gets: the more rows are to
	// come, the less an estimate means.
	leastGrowth = 1.5
	mostGrowth  = 16
	// expectLeast is the least number of keys for an estimate, and expectShare their least share of
	// all keys: then, if four in five keys are new, some hundred have come that are not.
	expectLeast = 64 << 10
	expectShare = 256
	// mostNew is of how many of the keys that come to the set most are new, for it to be worth
	// while: what it saves is places in partitions for those that are not. Where all are, it takes
	// a fifth longer than partitions (docs/experiments/0018).
	mostNew = .8
	// filled is how full slots are when there are as many keys as expected, and blind by how much
	// the slots grow where the number of keys is not known.
	filled = .5
	blind  = 2
)

// growPart makes room for n keys.
func (s *sharedSet) growPart(p *setPart, n int) error {
	slots := len(p.slots) / s.words
	want := blind * float64(slots)
	if keys, came, ok := s.expected(); ok {
		if keys > mostNew*came {
			return errSetClosed
		}
		each := keys / setParts
		want = min((each+3*math.Sqrt(each))/filled, mostGrowth*float64(slots))
	}
	slots = int(max(want, leastGrowth*float64(slots), 2*float64(n), leastSlots))
	grown, err := s.memory.get(slots / lineSlots * lineSlots * s.words)
	if err != nil {
		return err
	}
	old := p.slots
	p.slots, p.n = grown, 0
	var keys [memberWords]uint64
	k, w := 0, s.words
	for at := 0; at < len(old); at += w {
		if key := old[at : at+w]; !free(key) {
			copyRow(keys[k:], key)
			if k += w; k+w > len(keys) {
				s.enterSlots(p, keys[:k])
				k = 0
			}
		}
	}
	s.enterSlots(p, keys[:k])
	s.memory.put(old)
	return nil
}

// expected is how many keys the set will have when all rows were read, and how many will have come;
// false: it cannot be estimated.
func (s *sharedSet) expected() (keys, came float64, ok bool) {
	read, now, found := s.counted()
	if now < expectLeast || s.rows < 0 || read <= 0 || read > s.rows || read < s.rows/expectShare {
		return 0, 0, false
	}
	came = float64(now) * float64(s.rows) / float64(read)
	return feedback.ExpectedGroups(now, now-found, int64(came)), came, true
}

// count is how many keys are in the set, while no worker enters any.
func (s *sharedSet) count() (n int) {
	for i := range s.parts {
		n += s.parts[i].n
	}
	if s.zeros.Load() {
		n++
	}
	return n
}

// free reports whether a slot has no key.
func free(slot []uint64) bool {
	for _, w := range slot {
		if w != 0 {
			return false
		}
	}
	return true
}
