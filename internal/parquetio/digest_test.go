package parquetio

import (
	"encoding/binary"
	"hash/fnv"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// digest hashes the values of columns, not how they came: flat or coded, in
// which steps. Rows of a column must come in order.
type digest map[int]uint64

func newDigest() digest { return digest{} }

func (d digest) add(leaf int, v *column.Vector) {
	h := d[leaf]
	var word [8]byte
	for i := range v.Len {
		x := v.At(i)
		f := fnv.New64a()
		binary.LittleEndian.PutUint64(word[:], h)
		f.Write(word[:])
		if x.Null {
			f.Write([]byte{1})
		} else {
			wide := x.Wide.Array()
			for _, w := range append(wide[:], uint64(x.Int), math.Float64bits(x.Float)) {
				binary.LittleEndian.PutUint64(word[:], w)
				f.Write(word[:])
			}
			f.Write([]byte(x.Bytes))
		}
		h = f.Sum64()
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
