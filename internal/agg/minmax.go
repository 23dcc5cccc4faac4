package agg

import "github.com/apache/arrow/go/v15/arrow/decimal256"

func minInt(words []uint64, stride int, gids []uint32, keys []int64) {
	keys = keys[:len(gids)]
	for i, g := range gids {
		if w := &words[int(g)*stride]; keys[i] < int64(*w) {
			*w = uint64(keys[i])
		}
	}
}

func maxInt(words []uint64, stride int, gids []uint32, keys []int64) {
	keys = keys[:len(gids)]
	for i, g := range gids {
		if w := &words[int(g)*stride]; keys[i] > int64(*w) {
			*w = uint64(keys[i])
		}
	}
}

// minFloat begins with NaN, the greatest of all, which any value replaces.
func minFloat(words []uint64, stride int, gids []uint32, vals []float64) {
	w := asFloats(words)
	vals = vals[:len(gids)]
	for i, g := range gids {
		at := int(g) * stride
		if m := w[at]; vals[i] < m || m != m {
			w[at] = vals[i]
		}
	}
}

// maxFloat begins with -Inf; a NaN replaces everything and stays.
func maxFloat(words []uint64, stride int, gids []uint32, vals []float64) {
	w := asFloats(words)
	vals = vals[:len(gids)]
	for i, g := range gids {
		at := int(g) * stride
		if v := vals[i]; v > w[at] || v != v {
			w[at] = v
		}
	}
}

func minWide(words []uint64, stride int, gids []uint32, vals []decimal256.Num) {
	for i, g := range gids {
		if w := words[int(g)*stride:]; vals[i].Less(loadWide(w)) {
			storeWide(w, vals[i])
		}
	}
}

func maxWide(words []uint64, stride int, gids []uint32, vals []decimal256.Num) {
	for i, g := range gids {
		if w := words[int(g)*stride:]; loadWide(w).Less(vals[i]) {
			storeWide(w, vals[i])
		}
	}
}

// extremeNarrow is minWide or maxWide for values of 64 bits.
func extremeNarrow(words []uint64, stride int, gids []uint32, vals []int64, greatest bool) {
	for i, g := range gids {
		v, w := decimal256.FromI64(vals[i]), words[int(g)*stride:]
		if best := loadWide(w); !greatest && v.Less(best) || greatest && best.Less(v) {
			storeWide(w, v)
		}
	}
}

func loadWide(w []uint64) decimal256.Num {
	_ = w[3]
	return decimal256.New(w[3], w[2], w[1], w[0])
}

func storeWide(w []uint64, v decimal256.Num) {
	a := v.Array()
	copy(w[:4], a[:])
}

// lowest returns the least of keys, which are not empty.
func lowest(keys []int64) int64 {
	a := keys[0]
	b, c, d := a, a, a
	for ; len(keys) >= 4; keys = keys[4:] {
		a = min(a, keys[0])
		b = min(b, keys[1])
		c = min(c, keys[2])
		d = min(d, keys[3])
	}
	for _, k := range keys {
		a = min(a, k)
	}
	return min(a, b, c, d)
}

// highest returns the greatest of keys, which are not empty.
func highest(keys []int64) int64 {
	a := keys[0]
	b, c, d := a, a, a
	for ; len(keys) >= 4; keys = keys[4:] {
		a = max(a, keys[0])
		b = max(b, keys[1])
		c = max(c, keys[2])
		d = max(d, keys[3])
	}
	for _, k := range keys {
		a = max(a, k)
	}
	return max(a, b, c, d)
}
