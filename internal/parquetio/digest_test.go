package parquetio

import (
	"math"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/zeebo/xxh3"
)

// digest hashes the values of columns, not how they came: flat or coded, in
// which steps. Rows of a column must come in order.
type digest map[int]uint64

func newDigest() digest { return digest{} }

func (d digest) add(leaf int, v *column.Vector) {
	h := d[leaf]
	mix := func(w uint64) { h = bits.RotateLeft64((h^w)*0x9E3779B97F4A7C15, 31) }
	for i := range v.Len {
		x := v.At(i)
		if x.Null {
			mix(1)
			continue
		}
		for _, w := range x.Wide.Array() {
			mix(w)
		}
		mix(uint64(x.Int))
		mix(math.Float64bits(x.Float))
		mix(xxh3.HashString(x.Bytes))
	}
	d[leaf] = h
}

func (d digest) sum() uint64 {
	s := uint64(0)
	for leaf, h := range d {
		s += h * uint64(2*leaf+1)
	}
	return s
}
