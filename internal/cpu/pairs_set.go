package cpu

import (
	"math/bits"
	"math/rand/v2"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/key"
)

// pairSet tells which pairs of a partition came before. It is used for one partition after the
// other.
//
//	slot  number of the group + 1, value; zeros: none
//
// Slots are looked at from the home slot of a pair on. Their hash is seeded, so that nobody can
// make pairs crowd.
type pairSet struct {
	memory []uint64
	slots  []uint64 // of memory, for the partition at hand
	seed   [2]uint64
	from   budget.Lender
	fresh  [pairsAtOnce]int32

	// what was read of slots before pairs are looked up, which else the compiler may leave out
	touched uint64
}

// pairsAtOnce is how many pairs are looked up together, so that their cache misses overlap.
const pairsAtOnce = 64

// begin begins with a partition of n pairs at most.
func (s *pairSet) begin(n int, from budget.Lender) error {
	words := pairWords * (n + n/2 + 1)
	if words > len(s.memory) {
		s.drop()
		if err := from.Draw(int64(8 * words)); err != nil {
			return err
		}
		s.from, s.memory = from, hostmem.Make[uint64](words)
		s.seed = [2]uint64{rand.Uint64(), rand.Uint64() | 1}
	}
	s.slots = s.memory[:words]
	clear(s.slots)
	return nil
}

// enter enters pairs of a number and the second word of a row, and returns which of them are new.
// It is valid until the next call.
func (s *pairSet) enter(numbers []uint32, rows []uint64) []int32 {
	var homes [pairsAtOnce]uint64
	slots, count := s.slots, uint64(len(s.slots)/pairWords)
	rows = rows[:pairWords*len(numbers)]
	for i, n := range numbers {
		at, _ := bits.Mul64(key.Mum(key.Mum(uint64(n)^s.seed[0], s.seed[1])^rows[pairWords*i+1], s.seed[1]), count)
		homes[i] = pairWords * at
		s.touched ^= slots[pairWords*at]
	}
	fresh := s.fresh[:len(numbers)]
	k := 0
	for i, n := range numbers {
		a, b := uint64(n)+1, rows[pairWords*i+1]
		at := homes[i]
		fresh[k] = int32(i)
		for slots[at] != a || slots[at+1] != b {
			if slots[at] == 0 {
				slots[at], slots[at+1] = a, b
				k++
				break
			}
			if at += pairWords; at == uint64(len(slots)) {
				at = 0
			}
		}
	}
	return fresh[:k]
}

// drop frees the memory.
func (s *pairSet) drop() {
	if s.memory != nil {
		s.from.Release(int64(8 * len(s.memory)))
		hostmem.Free(s.memory)
		s.memory, s.slots = nil, nil
	}
}
