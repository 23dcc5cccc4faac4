package agg

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// words tells how many hot and cold words s has and what they begin with.
func (s *slot) words() (hot, cold []uint64) {
	zeros := [8]uint64{}
	switch s.op {
	case opAddInt, opAddCounted, opMulInt, opOr, opXor:
		return zeros[:1], nil
	case opAddInt128, opAddUint128, opMulInt128:
		return zeros[:1], zeros[1:2]
	case opMulInt192:
		return zeros[:1], zeros[1:3]
	case opAddWide192:
		return zeros[:3], nil
	case opAddWide320:
		return zeros[:5], nil
	case opAddFloat, opAddDouble, opMulFloat, opPowFloat3, opPowFloat4, opMaxBytes:
		return zeros[:2], nil
	case opMinBytes: // what any prefix replaces or equals, as it has to be on a device
		return []uint64{math.MaxUint64, 0}, nil
	case opFixedSum, opFixedMul, opFixedPow3, opFixedPow4:
		return make([]uint64, s.fixed.n), nil
	case opMinInt:
		return []uint64{math.MaxInt64}, nil
	case opMaxInt:
		return []uint64{1 << 63}, nil
	case opMinFloat:
		return []uint64{math.Float64bits(math.NaN())}, nil
	case opMaxFloat:
		return []uint64{math.Float64bits(math.Inf(-1))}, nil
	case opMinWide:
		return greatestWide[:], nil
	case opMaxWide:
		return leastWide[:], nil
	case opAnd:
		return []uint64{math.MaxUint64}, nil
	case opProduct:
		return []uint64{math.Float64bits(1), 0}, nil
	case opFirst:
		return []uint64{neverFirst}, make([]uint64, valueWords(s.xRep))
	case opLast:
		return []uint64{neverLast}, make([]uint64, valueWords(s.xRep))
	case opTop:
		worst := make([]uint64, s.chain.n)
		for i := range worst {
			worst[i] = math.MaxInt64
		}
		return worst, nil
	case opChain:
		return zeros[:chainWords], zeros[chainWords:][:s.chain.coldWords()]
	case opArgMin, opArgMax:
		return append(s.worstKey(), neverFirst), make([]uint64, valueWords(s.xRep))
	}
	panic("agg: slot without words")
}

var (
	greatestWide = [4]uint64{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxInt64}
	leastWide    = [4]uint64{0, 0, 0, 1 << 63}
)

// worstKey is the key words of opArgMin and opArgMax before the first row.
func (s *slot) worstKey() []uint64 {
	switch {
	case s.yRep == column.RepBytes && s.op == opArgMin:
		return []uint64{math.MaxUint64, 0} // no ref
	case s.yRep == column.RepBytes:
		return []uint64{0, 0}
	case s.yRep == column.RepWide && s.op == opArgMin:
		return append([]uint64(nil), greatestWide[:]...)
	case s.yRep == column.RepWide:
		return append([]uint64(nil), leastWide[:]...)
	}
	return []uint64{math.MaxInt64} // keys of opArgMax are complements
}
