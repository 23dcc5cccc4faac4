package cpu

import (
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file is how workers see that arguments have no more bits than Config.Bits says. That is the word of a file's statistics, which
// may be wrong.

// fitsBits reports whether the values of argument i have no more bits than expected. Those of a dictionary are looked at once.
func (w *Worker) fitsBits(i int, v *column.Vector) bool {
	if i >= len(w.cfg.Bits) || w.cfg.Bits[i] == 0 {
		return true
	}
	most := w.cfg.Bits[i]
	if v.Dict == nil {
		return bitsOf(v) <= most
	}
	if w.checked == nil {
		w.checked = make([]*column.Dict, len(w.cfg.Bits))
	}
	if w.checked[i] == v.Dict {
		return true
	}
	w.checked[i] = v.Dict
	return bitsOf(&v.Dict.Values) <= most
}

// bitsOf is how many bits the integers of a flat vector have at most, their sign aside.
func bitsOf(v *column.Vector) int {
	all := uint64(0) // as if none were negative
	switch {
	case v.Type.Rep() == column.RepWide && !v.Narrow:
		for i := range v.Wide[:v.Len] {
			x := v.Wide[i].Array()
			if sign := uint64(int64(x[0]) >> 63); !v.IsNull(i) && (x[1]^sign|x[2]^sign|x[3]^sign) != 0 {
				return 64
			}
			if !v.IsNull(i) {
				all |= x[0] ^ uint64(int64(x[0])>>63)
			}
		}
	case v.Null != nil:
		for i, x := range v.Int[:v.Len] {
			if !v.Null[i] {
				all |= uint64(x ^ x>>63)
			}
		}
	default:
		for _, x := range v.Int[:v.Len] {
			all |= uint64(x ^ x>>63)
		}
	}
	return bits.Len64(all)
}
