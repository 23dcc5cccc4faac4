package agg

import "math"

// A product is a fraction and a power of two of its own. So no product of
// finite numbers becomes infinite, or loses digits near zero, on the way to a
// result that a double holds: 1e300 * 1e300 * 0 is 0 in any order.
//
// Every factor adds an error of at most 2^-53, so that the last digits depend
// on the order.

// mulFloat multiplies products by doubles.
func mulFloat(words []uint64, stride int, gids []uint32, vals []float64) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		fraction, exponent := math.Frexp(vals[i])
		mulProduct(words[int(g)*stride:], fraction, int64(exponent))
	}
}

// mulProduct multiplies the product in w by fraction * 2^exponent.
func mulProduct(w []uint64, fraction float64, exponent int64) {
	f, more := math.Frexp(math.Float64frombits(w[0]) * fraction)
	w[0] = math.Float64bits(f)
	w[1] += uint64(exponent + int64(more))
}

// product writes the results of product.
func (f *finisher) product() {
	s := f.slot(0)
	for i, row := range f.groups() {
		f.out.Float[i] = productOf(row[s.hot:])
		if !f.seen(row) {
			f.setNull(i)
		}
	}
}

// productOf is a product as a double.
func productOf(w []uint64) float64 {
	// Beyond these limits a double is 0 or infinite anyway.
	exponent := min(max(int64(w[1]), math.MinInt32), math.MaxInt32)
	return math.Ldexp(math.Float64frombits(w[0]), int(exponent)) + 0 // -0 + 0 = 0
}
