package agg

import "github.com/gagg-dev/gagg/internal/column"

// update runs the loop of slot s over the rows of v. Every loop gets the
// words of the table from the first word of the slot on, so that the word of
// row i is words[gids[i]*stride].
func (l *Layout) update(t *Table, s *slot, v *view) {
	words, stride := t.Rows[s.hot:], t.Stride
	x := &v.args[s.x]
	if v.few.n > 0 && s.addFew(t, v.few, v.gids, x) {
		return
	}
	switch s.op {
	case opAddInt:
		switch {
		case x.Dict != nil:
			addCoded(words, stride, v.gids, x)
		case x.Type.Rep() == column.RepWide && !x.Narrow:
			addLow(words, stride, v.gids, x.Wide)
		default:
			addInt(words, stride, v.gids, x.Int)
		}
	case opAddCounted:
		switch {
		case x.Dict != nil:
			addCountedCoded(words, stride, s.shift, v.gids, x)
		case x.Type.Rep() == column.RepWide && !x.Narrow:
			addCountedLow(words, stride, s.shift, v.gids, x.Wide)
		default:
			addCounted(words, stride, s.shift, v.gids, x.Int)
		}
	case opAddInt128:
		addInt128(words, stride, s.cold-s.hot, v.gids, x.Int)
	case opAddUint128:
		addUint128(words, stride, s.cold-s.hot, v.gids, x.Int)
	case opAddWide192:
		if x.Narrow {
			addNarrow(words, stride, wideWords(s.op), v.gids, x.Int)
		} else {
			addWide192(words, stride, v.gids, x.Wide)
		}
	case opAddWide320:
		if x.Narrow {
			addNarrow(words, stride, wideWords(s.op), v.gids, x.Int)
		} else {
			addWide320(words, stride, v.gids, x.Wide)
		}
	case opAddFloat:
		addFloat(words, stride, v.gids, t.scratch.floatsOf(0, x))
	case opAddDouble:
		addDouble(words, stride, v.gids, t.scratch.floatsOf(0, x))
	case opMinInt:
		minInt(words, stride, v.gids, t.scratch.keysOf(x))
	case opMaxInt:
		maxInt(words, stride, v.gids, t.scratch.keysOf(x))
	case opMinFloat:
		minFloat(words, stride, v.gids, x.Float)
	case opMaxFloat:
		maxFloat(words, stride, v.gids, x.Float)
	case opMinWide, opMaxWide:
		switch {
		case x.Narrow:
			extremeNarrow(words, stride, v.gids, x.Int, s.op == opMaxWide)
		case s.op == opMinWide:
			minWide(words, stride, v.gids, x.Wide)
		default:
			maxWide(words, stride, v.gids, x.Wide)
		}
	case opMinBytes, opMaxBytes:
		extremeBytes(t, s, v.gids, x, s.op == opMaxBytes)
	case opAnd:
		andInt(words, stride, v.gids, x.Int)
	case opOr:
		orInt(words, stride, v.gids, x.Int)
	case opXor:
		xorInt(words, stride, v.gids, x.Int)
	case opProduct:
		mulFloat(words, stride, v.gids, t.scratch.floatsOf(0, x))
	case opMulInt:
		addMulInt(words, stride, v.gids, x.Int, v.args[s.y].Int)
	case opMulInt128:
		addMulInt128(words, stride, s.cold-s.hot, v.gids, x.Int, v.args[s.y].Int)
	case opMulInt192:
		addMulInt192(words, stride, s.cold-s.hot, v.gids, x, &v.args[s.y])
	case opMulFloat:
		a := t.scratch.floatsOf(0, x)
		b := a
		if s.y != s.x {
			b = t.scratch.floatsOf(1, &v.args[s.y])
		}
		addMulFloat(words, stride, v.gids, a, b)
	case opPowFloat3, opPowFloat4:
		addPowFloat(words, stride, v.gids, t.scratch.floatsOf(0, x), s.op == opPowFloat4)
	case opFixedSum, opFixedMul, opFixedPow3, opFixedPow4:
		s.updateFixed(t, v)
	case opFirst, opLast:
		updatePlace(t, s, v)
	case opArgMin, opArgMax:
		updateArg(t, s, v)
	case opTop:
		updateTop(words, stride, v.gids, s.chain.values(&t.scratch, x), s.chain.n)
	case opChain:
		l.updateChain(t, s, v)
	}
}

// reduce does what update does for rows of one group, in registers. It
// reports false, and does nothing, for slots that have no such loop.
func (l *Layout) reduce(t *Table, s *slot, group uint32, row []uint64, v *view) bool {
	words := row[s.hot:]
	x := &v.args[s.x]
	switch s.op {
	case opAddInt:
		if x.Type.Rep() == column.RepWide && !x.Narrow {
			return false
		}
		words[0] += uint64(sumOf(x, v.rows))
	case opAddCounted:
		if x.Type.Rep() == column.RepWide && !x.Narrow {
			return false
		}
		words[0] += uint64(sumOf(x, v.rows))<<s.shift + uint64(v.rows)
	case opAddInt128:
		var hi, lo int64
		if x.Dict != nil {
			hi, lo = sumCoded128(x.Codes[:v.rows], x.Dict.Values.Int)
		} else {
			hi, lo = sumInt128(x.Int[:v.rows])
		}
		addSigned128(&words[0], &row[s.cold], hi, lo)
	case opAddWide192, opAddWide320:
		if !x.Narrow {
			return false
		}
		hi, lo := sumInt128(x.Int[:v.rows])
		sum := wide128(hi, lo)
		addWords(words[:wideWords(s.op)], sum[:])
	case opMinWide, opMaxWide:
		if !x.Narrow {
			return false
		}
		best := []int64{lowest(x.Int[:v.rows])}
		if s.op == opMaxWide {
			best[0] = highest(x.Int[:v.rows])
		}
		extremeNarrow(words, 0, []uint32{0}, best, s.op == opMaxWide)
	case opMinInt:
		words[0] = uint64(min(int64(words[0]), lowest(t.scratch.keysOf(x))))
	case opMaxInt:
		words[0] = uint64(max(int64(words[0]), highest(t.scratch.keysOf(x))))
	case opFixedSum, opFixedMul:
		if s.fixed.aligned && s.reduceAligned(t, group, v) {
			return true
		}
		if s.op == opFixedMul {
			return false
		}
		vals := t.scratch.floatsOf(0, x)
		if !s.sumFixed(t, group, vals) {
			t.noteOutside(s, vals, nil)
		}
	case opChain:
		return l.reduceChain(t, s, group, row, v)
	default:
		return false
	}
	return true
}

// count counts rows, each of which stands for `times` rows.
func (t *Table) count(rows field, times uint64, gids []uint32, of few) {
	words := t.Rows[rows.off:]
	if of.n == 0 {
		addTimes(words, t.Stride, times*rows.one(), gids)
		return
	}
	f := &t.scratch.few
	f.count(gids)
	for g := of.first; g < of.first+uint32(of.n); g++ {
		words[int(g)*t.Stride] += uint64(f.of(g)) * times * rows.one()
	}
}

// addTimes counts rows, each of which stands for `times` rows, in the units of the field.
func addTimes(words []uint64, stride int, times uint64, gids []uint32) {
	for _, g := range gids {
		words[int(g)*stride] += times
	}
}

func clearBit(words []uint64, stride int, bit uint64, gids []uint32) {
	for _, g := range gids {
		words[int(g)*stride] &^= bit
	}
}
