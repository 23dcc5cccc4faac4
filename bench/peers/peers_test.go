package main

import (
	"math"
	"strings"
	"testing"
)

func TestQuestions(t *testing.T) {
	all, err := pick("")
	if err != nil || len(all) != 8 {
		t.Fatalf("%d questions, %v", len(all), err)
	}
	some, err := pick("q7,q10")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := some[0].sql(), "select id3, max(v1) - min(v2) as a0 from {table} group by id3"; got != want {
		t.Errorf("q7 is %q, want %q", got, want)
	}
	if got, want := some[1].columns(), "sum(v3) as a0, count(*) as a1"; got != want {
		t.Errorf("the aggregates of q10 are %q, want %q", got, want)
	}
	if _, err := pick("q1,q6"); err == nil || !strings.Contains(err.Error(), "q6") {
		t.Errorf("q6: %v", err)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		seconds []float64
		want    float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{7, 1, 2}, 2}} {
		if got := (&cell{Seconds: c.seconds}).median(); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.seconds, got, c.want)
		}
	}
	if got := (*cell)(nil).median(); got != 0 {
		t.Errorf("an engine that was not asked: %v", got)
	}
}

func TestGeometricMean(t *testing.T) {
	if got := geometricMean([]float64{2, 8, 0}); math.Abs(got-4) > 1e-12 { // 0: no answer
		t.Errorf("got %v, want 4", got)
	}
	if got := geometricMean(nil); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// Sums may differ by rounding, relative to what was added up, and no more.
func TestDiffers(t *testing.T) {
	duckdb := fingerprint{"5", "77", []float64{0, 1e6}, []float64{1e6, 1e6}}
	for name, c := range map[string]struct {
		other fingerprint
		want  string
	}{
		"same":     {duckdb, ""},
		"rounding": {fingerprint{"5", "77", []float64{1e-4, 1e6}, nil}, ""},
		"groups":   {fingerprint{"4", "77", nil, nil}, "4 groups instead of 5"},
		"keys":     {fingerprint{"5", "78", nil, nil}, "other keys"},
		"value":    {fingerprint{"5", "77", []float64{0, 1e6 + 1}, nil}, "a0: a sum of 1.000001e+06 instead of 1e+06"},
		"NaN":      {fingerprint{"5", "77", []float64{math.NaN(), 1e6}, nil}, "a0: a sum of NaN instead of 0"},
	} {
		if got := duckdb.differs(c.other); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSlug(t *testing.T) {
	if got, want := (machine{CPU: "AMD EPYC 9454 (48-Core) "}).slug(), "AMD-EPYC-9454-48-Core"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
