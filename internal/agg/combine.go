package agg

import (
	"math"
	"slices"

	"github.com/gagg-dev/gagg/internal/arena"
)

// Combine merges the state of src into dst: two rows of the same group, from
// other workers or other parts of the data. It is associative, and for exact
// slots commutative too. reg is where the refs of both are valid; nil will do
// for layouts without refs (HasRefs).
//
// Values taken from src are copied into to, the arena that holds the values of
// dst: at most CombineNeed bytes.
func (l *Layout) Combine(dst, src []uint64, reg *arena.Arenas, to *arena.Arena) {
	l.combine(dst, src, taker{reg: reg, to: to, copies: true})
}

// Join is Combine, but dst takes the refs of src over, so that src must not be
// updated any more. What it puts into to, at most CombineNeed of no values, is
// what dst needs beside them.
func (l *Layout) Join(dst, src []uint64, reg *arena.Arenas, to *arena.Arena) {
	l.combine(dst, src, taker{reg: reg, to: to})
}

// Adds gives the state words of a layout whose Combine and Join add each word of src to its like in
// dst, and do nothing else, so that a caller may do so in a loop of its own; false: they do more.
func (l *Layout) Adds() (words []int, only bool) {
	words = slices.Clone(l.counts)
	for i := range l.slots {
		if op := l.slots[i].op; op != opAddInt && op != opAddCounted && op != opMulInt {
			return nil, false
		}
		words = append(words, l.slots[i].hot)
	}
	return words, len(l.flags) == 0
}

func (l *Layout) combine(dst, src []uint64, take taker) {
	for _, off := range l.counts {
		dst[off] += src[off]
	}
	for _, off := range l.flags {
		dst[off] &= src[off]
	}
	one := [1]uint32{}
	for i := range l.slots {
		l.combineSlot(&l.slots[i], dst, len(dst), one[:], src, take)
	}
}

// combineSlot merges the words of one slot: row i of src into group gids[i].
func (l *Layout) combineSlot(s *slot, dst []uint64, stride int, gids []uint32, src []uint64, take taker) {
	to, from, cold := dst[s.hot:], src[s.hot:], s.cold-s.hot
	switch s.op {
	case opAddInt, opAddCounted, opMulInt:
		combineAdd(to, from, stride, gids)
	case opAddInt128, opMulInt128:
		for i, g := range gids {
			w, f := to[int(g)*stride:], from[i*stride:]
			addSigned128(&w[0], &w[cold], int64(f[cold]), int64(f[0]))
		}
	case opAddUint128:
		for i, g := range gids {
			w, f := to[int(g)*stride:], from[i*stride:]
			addUnsigned128(&w[0], &w[cold], f[cold], f[0])
		}
	case opAddWide192:
		combineWords(to, from, stride, gids, 3)
	case opAddWide320:
		combineWords(to, from, stride, gids, 5)
	case opFixedSum, opFixedMul, opFixedPow3, opFixedPow4:
		combineWords(to, from, stride, gids, s.fixed.n)
	case opAddFloat, opAddDouble, opMulFloat, opPowFloat3, opPowFloat4:
		for i, g := range gids {
			addCompensated(asFloats(to), int(g)*stride, loadFloat(from[i*stride:]))
		}
	case opMinInt:
		for i, g := range gids {
			w := &to[int(g)*stride]
			*w = uint64(min(int64(*w), int64(from[i*stride])))
		}
	case opMaxInt:
		for i, g := range gids {
			w := &to[int(g)*stride]
			*w = uint64(max(int64(*w), int64(from[i*stride])))
		}
	case opMinFloat, opMaxFloat:
		for i, g := range gids {
			combineFloat(&to[int(g)*stride], from[i*stride], s.op == opMaxFloat)
		}
	case opMinWide:
		for i, g := range gids {
			combineWide(to[int(g)*stride:], from[i*stride:], false)
		}
	case opMaxWide:
		for i, g := range gids {
			combineWide(to[int(g)*stride:], from[i*stride:], true)
		}
	case opMinBytes, opMaxBytes:
		for i, g := range gids {
			combineBytes(to[int(g)*stride:], from[i*stride:], take, s.op == opMaxBytes)
		}
	case opAnd:
		combineAnd(to, from, stride, gids)
	case opOr:
		for i, g := range gids {
			to[int(g)*stride] |= from[i*stride]
		}
	case opXor:
		for i, g := range gids {
			to[int(g)*stride] ^= from[i*stride]
		}
	case opProduct:
		for i, g := range gids {
			f := from[i*stride:]
			mulProduct(to[int(g)*stride:], math.Float64frombits(f[0]), int64(f[1]))
		}
	case opMulInt192:
		for i, g := range gids {
			w, f := to[int(g)*stride:], from[i*stride:]
			addSigned192(w, cold, int64(f[0]), f[cold], f[cold+1])
		}
	case opTop:
		for i, g := range gids {
			combineTop(to[int(g)*stride:][:s.chain.n], from[i*stride:][:s.chain.n])
		}
	case opChain:
		for i, g := range gids {
			l.combineChain(s, dst[int(g)*stride:][:stride], src[i*stride:], take) // src may have less behind its words
		}
	case opFirst, opLast, opArgMin, opArgMax:
		for i, g := range gids {
			s.combineStored(to[int(g)*stride:], from[i*stride:], take)
		}
	}
}

func combineAdd(dst, src []uint64, stride int, gids []uint32) {
	for i, g := range gids {
		dst[int(g)*stride] += src[i*stride]
	}
}

func combineAnd(dst, src []uint64, stride int, gids []uint32) {
	for i, g := range gids {
		dst[int(g)*stride] &= src[i*stride]
	}
}

// combineWords adds numbers of n words.
func combineWords(dst, src []uint64, stride int, gids []uint32, n int) {
	for i, g := range gids {
		addWords(dst[int(g)*stride:][:n], src[i*stride:][:n])
	}
}

// combineFloat keeps the lesser, or the greater, of two floats in w.
func combineFloat(w *uint64, from uint64, greatest bool) {
	if k := floatKey(math.Float64frombits(from)); (k > floatKey(math.Float64frombits(*w))) == greatest {
		*w = from
	}
}

// combineWide keeps the lesser, or the greater, of two numbers in w.
func combineWide(w, from []uint64, greatest bool) {
	a, b := loadWide(w), loadWide(from)
	if greatest {
		a, b = b, a
	}
	if b.Less(a) {
		copy(w[:4], from[:4])
	}
}
