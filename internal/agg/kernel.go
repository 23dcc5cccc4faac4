package agg

// update runs the loop of slot s over the rows of v. Every loop gets the
// words of the table from the first word of the slot on, so that the word of
// row i is words[gids[i]*stride].
func (l *Layout) update(t *Table, s *slot, v *view) {
	words, stride := t.Rows[s.hot:], t.Stride
	x := &v.args[s.x]
	switch s.op {
	case opAddInt:
		addInt(words, stride, v.gids, x.Int)
	case opAddInt128:
		addInt128(words, stride, s.cold-s.hot, v.gids, x.Int)
	case opAddUint128:
		addUint128(words, stride, s.cold-s.hot, v.gids, x.Int)
	case opAddWide192:
		addWide192(words, stride, v.gids, x.Wide)
	case opAddWide320:
		addWide320(words, stride, v.gids, x.Wide)
	case opAddFloat:
		addFloat(words, stride, v.gids, x.Float)
	case opMinInt:
		minInt(words, stride, v.gids, t.scratch.keysOf(x))
	case opMaxInt:
		maxInt(words, stride, v.gids, t.scratch.keysOf(x))
	case opMinFloat:
		minFloat(words, stride, v.gids, x.Float)
	case opMaxFloat:
		maxFloat(words, stride, v.gids, x.Float)
	case opMinWide:
		minWide(words, stride, v.gids, x.Wide)
	case opMaxWide:
		maxWide(words, stride, v.gids, x.Wide)
	case opMinBytes, opMaxBytes:
		extremeBytes(t, s, v.gids, x, s.op == opMaxBytes)
	}
}

// reduce does what update does for rows of one group, in registers. It
// reports false, and does nothing, for slots that have no such loop.
func (l *Layout) reduce(t *Table, s *slot, row []uint64, v *view) bool {
	words := row[s.hot:]
	x := &v.args[s.x]
	switch s.op {
	case opAddInt:
		words[0] += uint64(sumInt(x.Int[:v.rows]))
	case opAddInt128:
		hi, lo := sumInt128(x.Int[:v.rows])
		addSigned128(&words[0], &row[s.cold], hi, lo)
	case opAddFloat:
		mergeFloat(words, sumFloat(x.Float[:v.rows]))
	case opMinInt:
		words[0] = uint64(min(int64(words[0]), lowest(t.scratch.keysOf(x))))
	case opMaxInt:
		words[0] = uint64(max(int64(words[0]), highest(t.scratch.keysOf(x))))
	case opMinFloat:
		w := asFloats(words)
		for _, f := range x.Float[:v.rows] {
			if f < w[0] || w[0] != w[0] {
				w[0] = f
			}
		}
	case opMaxFloat:
		w := asFloats(words)
		for _, f := range x.Float[:v.rows] {
			if f > w[0] || f != f {
				w[0] = f
			}
		}
	default:
		return false
	}
	return true
}

// addOne counts rows.
func addOne(words []uint64, stride int, gids []uint32) {
	for _, g := range gids {
		words[int(g)*stride]++
	}
}

func clearBit(words []uint64, stride int, bit uint64, gids []uint32) {
	for _, g := range gids {
		words[int(g)*stride] &^= bit
	}
}
