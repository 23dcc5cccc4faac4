package cpu

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file is how workers see that arguments are where Config.Ranges says. That is the word of a
// file's statistics, which may be wrong.

// inRange reports whether the values of argument i are where they are expected. Those of a
// dictionary are looked at once.
func (w *Worker) inRange(i int, v *column.Vector) bool {
	if i >= len(w.cfg.Ranges) || !w.cfg.Ranges[i].Known() {
		return true
	}
	r := w.cfg.Ranges[i]
	if v.Dict == nil {
		return mostOf(v, r.Signed) <= r.Most
	}
	if w.checked == nil {
		w.checked = make([]*column.Dict, len(w.cfg.Ranges))
	}
	if w.checked[i] == v.Dict {
		return true
	}
	w.checked[i] = v.Dict
	return mostOf(&v.Dict.Values, r.Signed) <= r.Most
}

// mostOf is the greatest of the integers of a flat vector, of which those below 0 are the greatest
// of all, or as far from -1 as others are from 0 if signed.
func mostOf(v *column.Vector, signed bool) uint64 {
	sign := int64(0)
	if signed {
		sign = -1
	}
	most := uint64(0)
	switch {
	case v.Type.Rep() == column.RepWide && !v.Narrow:
		for i := range v.Wide[:v.Len] {
			if v.IsNull(i) {
				continue
			}
			x := v.Wide[i].Array()
			if s := uint64(int64(x[0]) >> 63); (x[1]^s)|(x[2]^s)|(x[3]^s) != 0 {
				return math.MaxUint64
			}
			most = max(most, x[0]^uint64(int64(x[0])>>63&sign))
		}
	case v.Null != nil:
		for i, x := range v.Int[:v.Len] {
			if !v.Null[i] {
				most = max(most, uint64(x^x>>63&sign))
			}
		}
	default:
		most = mostInt(v.Int[:v.Len], sign)
	}
	return most
}

// mostInt is mostOf integers, two at a time: each comparison waits for the one before.
func mostInt(vals []int64, sign int64) uint64 {
	a, b := uint64(0), uint64(0)
	for ; len(vals) >= 2; vals = vals[2:] {
		x, y := vals[0], vals[1]
		a, b = max(a, uint64(x^x>>63&sign)), max(b, uint64(y^y>>63&sign))
	}
	for _, x := range vals {
		a = max(a, uint64(x^x>>63&sign))
	}
	return max(a, b)
}
