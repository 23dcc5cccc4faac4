package egatest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Empty is EGA_EMPTY of ega.cuh: what the key words of an empty slot are.
const Empty = 0xa5f152c98e3d7b07

// Case is rows that every strategy has to aggregate as the twin does.
type Case struct {
	Name   string
	Layout ega.Layout
	Rows   []uint64
}

// EveryOp has each operation once.
var EveryOp = ega.Layout{
	Hash: true, KeyWords: 2,
	Ops: []combine.Op{
		combine.Add, combine.AddLow, combine.AddHigh, combine.AddLowInt, combine.AddHigh, combine.Sum, combine.SumError, combine.MinInt, combine.MaxInt,
		combine.MinUint, combine.MaxUint, combine.MinFloat, combine.MaxFloat, combine.And, combine.Or, combine.Xor,
	},
	Mates: []int{0, 2, 0, 4, 0, 6},
}

// rareOps has sums of 192 bits, the lowest word unsigned or signed, with the others anywhere behind
// it, and of 320 bits, sums of doubles of both kinds, the three least values, and values of the
// rows that are the first, the last and the best.
var rareOps = ega.Layout{
	Hash: true, KeyWords: 1,
	Ops: []combine.Op{
		combine.AddLow, combine.Add, combine.AddMid, combine.AddLowInt, combine.AddHigh, combine.AddMid, combine.AddHigh, combine.Sum, combine.SumError,
		combine.AddLow, combine.AddMid, combine.AddMid, combine.AddMid, combine.AddHigh, combine.AddLowInt, combine.AddHigh,
		combine.SumError, combine.SumFine,
		combine.Least, combine.LeastMid, combine.LeastLast,
		combine.First, combine.Last, combine.Placed, combine.Placed, combine.Best, combine.BestPlace, combine.Placed,
	},
	Mates: []int{2, 0, 4, 5, 0, 6, 0, 8, 0, 10, 11, 12, 13, 0, 15, 0, 0, 16, 19, 20, 0, 24, 23, 0, 0, 26, 27},
}

// N is how many rows there are.
func (c *Case) N() int { return len(c.Rows) / c.Layout.Stride() }

// Cases are all inputs, smaller ones on the emulator.
func Cases() (list []Case) {
	large := 100_000
	if gputest.Emulated() {
		large = 5_000
	}
	random := rand.New(rand.NewPCG(1, 2))
	add := func(name string, l ega.Layout, n int, key func(i int) uint64) {
		list = append(list, Case{fmt.Sprintf("%s/rows=%d", name, n), l, Rows(random, &l, n, key)})
	}
	for _, n := range []int{0, 1, 31, 32, 33, 1000, large} {
		add("pairs/half", ega.Pairs, n, func(int) uint64 { return random.Uint64N(uint64(n)/2 + 1) })
	}
	zipf := rand.NewZipf(random, 1.2, 1, uint64(large))
	for _, l := range layouts() {
		name := fmt.Sprintf("hash=%v/keys=%d/states=%d", l.Hash, l.KeyWords, len(l.Ops))
		add(name+"/one", l, 1000, func(int) uint64 { return 7 })
		add(name+"/distinct", l, 1000, func(i int) uint64 { return uint64(i) })
		add(name+"/zipf", l, large, func(int) uint64 { return zipf.Uint64() })
		add(name+"/empty", l, 300, func(i int) uint64 { return []uint64{Empty, 0, math.MaxUint64, 1}[i%4] })
	}
	for _, keys := range []int{1, 2, 5} {
		c := Case{fmt.Sprintf("keys=%d/equal-hashes", keys), ega.Layout{Hash: true, KeyWords: keys, Ops: []combine.Op{combine.Add}}, nil}
		c.Rows = Rows(random, &c.Layout, 500, func(i int) uint64 { return uint64(i % 170) })
		for i := 0; i < len(c.Rows); i += c.Layout.Stride() {
			c.Rows[i] = 0xffffffffffffffff // the last slot: probing goes around
		}
		list = append(list, c)
	}
	return list
}

// layouts have all numbers of key words, with and without hash and states.
func layouts() []ega.Layout {
	two := []combine.Op{combine.Add, combine.MaxInt}
	list := []ega.Layout{ega.Pairs, EveryOp, {KeyWords: 1}, rareOps, rareKeys(2), rareKeys(5)}
	for keys := 1; keys <= ega.MaxKeyWords; keys++ {
		list = append(list, ega.Layout{Hash: keys%2 == 1, KeyWords: keys, Ops: two})
	}
	return list
}

// rareKeys is rareOps with longer keys.
func rareKeys(words int) ega.Layout {
	l := rareOps
	l.KeyWords = words
	return l
}

// Rows makes rows of keys whose words are derived from a number, which is
// in the last word and, scrambled or not, in the others.
func Rows(random *rand.Rand, l *ega.Layout, n int, key func(i int) uint64) (rows []uint64) {
	for i := range n {
		k := key(i)
		words := make([]uint64, l.KeyWords)
		for w := range words {
			words[w] = k >> (3 * (l.KeyWords - 1 - w)) // the first words are equal for many keys
			if k == Empty {
				words[w] = Empty
			}
		}
		if l.Hash {
			rows = append(rows, reference.HashOf(words))
		}
		rows = append(rows, words...)
		for _, op := range l.Ops {
			rows = append(rows, stateOf(random, op))
		}
		sortLeast(l, rows[len(rows)-len(l.Ops):])
	}
	return rows
}

// sortLeast puts the least values of a row, which lie one behind the other, in order.
func sortLeast(l *ega.Layout, states []uint64) {
	for i, op := range l.Ops {
		if op == combine.Least {
			end := i + 1 + slices.Index(l.Ops[i:], combine.LeastLast)
			slices.SortFunc(states[i:end], func(a, b uint64) int { return cmp.Compare(int64(a), int64(b)) })
		}
	}
}

// stateOf is a state word that is hard on its operation.
func stateOf(random *rand.Rand, op combine.Op) uint64 {
	switch op {
	case combine.AddHigh:
		return random.Uint64N(3)
	case combine.AddMid: // the carry goes through
		return []uint64{0, math.MaxUint64, random.Uint64()}[random.IntN(3)]
	case combine.Sum, combine.SumFine:
		return math.Float64bits((random.Float64() + .5) * math.Pow(10, float64(random.IntN(20))))
	case combine.SumError:
		return 0
	case combine.Least, combine.LeastMid, combine.LeastLast: // some equal, some are of no value
		return []uint64{math.MaxInt64, 7, random.Uint64()}[random.IntN(3)]
	case combine.First, combine.BestPlace: // no two are equal; some are of no value
		return []uint64{random.Uint64() >> 2, random.Uint64() >> 2, math.MaxInt64}[random.IntN(3)]
	case combine.Last:
		return []uint64{random.Uint64() >> 2, random.Uint64() >> 2, math.MaxUint64}[random.IntN(3)]
	case combine.Best: // some are equal
		return []uint64{random.Uint64(), uint64(random.IntN(3)) - 1}[random.IntN(2)]
	case combine.MinFloat, combine.MaxFloat:
		hard := []float64{math.NaN(), math.Copysign(0, -1), 0, math.Inf(1), math.Inf(-1), -1.5, math.MaxFloat64, math.SmallestNonzeroFloat64}
		if random.IntN(2) == 0 {
			return math.Float64bits(random.NormFloat64())
		}
		return math.Float64bits(hard[random.IntN(len(hard))])
	}
	return random.Uint64() // sums pass 2^64 at once
}
