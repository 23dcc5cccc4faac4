package main

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestQuestions(t *testing.T) {
	all, err := pick("h2o", "")
	if err != nil || len(all) != 10 {
		t.Fatalf("%d questions, %v", len(all), err)
	}
	for _, c := range []struct{ question, engine, want string }{
		{"q7", "gagg", "select id3, max(v1) - min(v2) as a0 from {table} group by id3"},
		{"q6", "duckdb", "select id4, id5, median(v3) as a0, stddev(v3) as a1 from {table} group by id4, id5"},
		{"q6", "clickhouse", "select id4, id5, quantileExactInclusive(0.5)(v3) as a0, stddevSamp(v3) as a1 from {table} group by id4, id5"},
		{"q8", "gagg", "select id6, max(v3, 2) as a0 from {table} group by id6"},
		{"q9", "clickhouse", "select id2, id4, corr(v1, v2) as a0 from {table} group by id2, id4"},
		{"distinct", "duckdb", "select count(distinct v) as a0 from {table}"},
		{"string_agg", "gagg", "select k, string_agg(v, '|') as a0 from {table} group by k"},
	} {
		some, err := pick("h2o", "q1,"+c.question)
		if err != nil || len(some) != 2 {
			t.Fatalf("%s: %d questions, %v", c.question, len(some), err)
		}
		if got := some[1].sql(c.engine); got != c.want {
			t.Errorf("%s for %s is %q, want %q", c.question, c.engine, got, c.want)
		}
	}
	if _, err := pick("h2o", "q1,q11"); err == nil || !strings.Contains(err.Error(), "q11") {
		t.Errorf("q11: %v", err)
	}
}

// Lists are compared by their elements.
func TestValue(t *testing.T) {
	for name, want := range map[string]string{
		"sum":        "a0::double",
		"count":      "a0::double",
		"largest":    "(coalesce(a0[1], 0) + 2 * coalesce(a0[2], 0) + len(a0))::double",
		"list":       "list_sum(list_transform(a0, lambda x: hash(x) % 100003))::double",
		"string_agg": "list_sum(list_transform(string_split(a0, '|'), lambda x: hash(x) % 100003))::double",
	} {
		if got := (term{name, "v"}).value("a0"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A run that fails keeps its peak; one that warms up has no time.
func TestAdd(t *testing.T) {
	var c cell
	c.add(false, spent{seconds: 9, peak: 7}, nil)
	c.add(true, spent{seconds: 2, peak: 5, written: 3}, nil)
	if len(c.Seconds) != 1 || c.median() != 2 || c.Peak != 7 || c.Written != 3 || c.Failed != "" {
		t.Errorf("two runs: %+v", c)
	}
	c.add(true, spent{seconds: 1, peak: 8}, errors.New("no"))
	if len(c.Seconds) != 1 || c.Peak != 8 || c.Failed != "no" {
		t.Errorf("a failure: %+v", c)
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
