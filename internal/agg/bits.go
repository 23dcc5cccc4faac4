package agg

// andInt, orInt and xorInt serve bit_and, bit_or and bit_xor, and on 0 and 1
// bool_and and bool_or.

func andInt(words []uint64, stride int, gids []uint32, vals []int64) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		words[int(g)*stride] &= uint64(vals[i])
	}
}

func orInt(words []uint64, stride int, gids []uint32, vals []int64) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		words[int(g)*stride] |= uint64(vals[i])
	}
}

func xorInt(words []uint64, stride int, gids []uint32, vals []int64) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		words[int(g)*stride] ^= uint64(vals[i])
	}
}
