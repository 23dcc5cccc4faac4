package column

import (
	"math"
	"strconv"
)

// AppendFloat writes the shortest digits that read back as the same value of so many bits (32 for
// float16 too), in DuckDB's and Python's layout: a point always, so that it is seen to be no
// integer, and an exponent from 1e16 on and below 1e-4.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	switch abs := math.Abs(f); {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case abs != 0 && (abs < 1e-4 || abs >= 1e16):
		return strconv.AppendFloat(dst, f, 'e', -1, bits)
	case f == math.Trunc(f):
		dst = strconv.AppendFloat(dst, f, 'f', -1, bits)
		return append(dst, ".0"...)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}
