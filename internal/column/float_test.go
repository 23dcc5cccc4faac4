package column

import (
	"math"
	"strconv"
	"testing"
)

func TestAppendFloat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f    float64
		bits int
		want string
	}{
		{0, 64, "0.0"},
		{math.Copysign(0, -1), 64, "-0.0"},
		{1, 64, "1.0"},
		{-2.5, 64, "-2.5"},
		{0.1, 64, "0.1"},
		{1e15, 64, "1000000000000000.0"},
		{1e16, 64, "1e+16"},
		{123456789012345678, 64, "1.2345678901234568e+17"},
		{1e-4, 64, "0.0001"},
		{1e-5, 64, "1e-05"},
		{5e-324, 64, "5e-324"},
		{math.MaxFloat64, 64, "1.7976931348623157e+308"},
		{math.NaN(), 64, "NaN"},
		{math.Inf(1), 64, "Infinity"},
		{math.Inf(-1), 64, "-Infinity"},
		{float64(float32(0.1)), 32, "0.1"},
		{16777216, 32, "16777216.0"},
		{math.MaxFloat32, 32, "3.4028235e+38"},
	} {
		got := string(AppendFloat(nil, c.f, c.bits))
		if got != c.want {
			t.Errorf("%g: got %s, want %s", c.f, got, c.want)
		}
		if back, err := strconv.ParseFloat(got, c.bits); err != nil || back != c.f && !math.IsNaN(c.f) {
			t.Errorf("%s reads back as %g, %v", got, back, err)
		}
	}
}
