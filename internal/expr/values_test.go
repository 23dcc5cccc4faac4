package expr

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Expressions have no more values than is said, and about as many where that is known.
func TestMostValues(t *testing.T) {
	t.Parallel()
	ends := func(col int) (least, most int64, ok bool) {
		switch testColumns[col].Name {
		case "j":
			return -40, 60, true
		case "day":
			return 10_000, 10_999, true
		case "ms":
			return -3_600_000, 7_199_999, true // three hours
		}
		return 0, 0, false
	}
	for text, want := range map[string]float64{
		"1 + 2": 1, "i": math.Inf(1), "s": math.Inf(1), "j": 102, "j * j + 7": 102 * 102, "-j": 102, "b": 3, "i > 7 or s like 'x%'": 3, "s is null": 3,
		"hour(ns)": 25, "minute(ms)": 61, "second(ns)": 61, "dayofweek(day)": 8, "month(day)": 13, "week(ns)": 54, "dayofyear(ns)": 367,
		"year(day)": 5.73, "decade(day)": 3.27, "date_trunc('month', day)": 38.67, "date_trunc('week', ns)": math.Inf(1), "date_trunc('hour', ms)": 6,
		"strftime(ms, '%H')": 6, "dayname(ms)": 3.12, "time_bucket('30 minutes', ms)": 9, "case when i > 3 then 'a' when s = 'x' then 'b' else 'c' end": 3,
		"case when i > 3 then j else 9 end": 103, "upper(s)": math.Inf(1), "j::varchar || 'x'": 102, "coalesce(j, 7)": 103,
	} {
		e := bindText(t, text)
		if got := e.MostValues(ends); math.Abs(got-want) > .01 && got != want {
			t.Errorf("%s: %v values, want %v", text, got, want)
		}
	}
	// of times of three days, and of every type of number
	rng := rand.New(rand.NewPCG(3, 4))
	for _, text := range []string{"hour(ms)", "date_trunc('hour', ms)", "date_trunc('day', ms)", "dayofweek(ms)", "time_bucket('7 minutes', ms)", "strftime(ms, '%d %H')", "minute(ms)", "week(ms)"} {
		const least, most = -100_000_000, 159_199_999
		e := bindText(t, text)
		b := &column.Batch{Rows: 20_000, Cols: make([]column.Vector, len(testColumns))}
		in := &b.Cols[e.Columns()[0]]
		*in = column.Vector{Type: column.TimestampType(column.Milli, false), Len: b.Rows}
		for range b.Rows {
			in.Int = append(in.Int, least+rng.Int64N(most-least+1))
		}
		var out column.Vector
		if err := e.NewEval().Eval(b, &out); err != nil {
			t.Fatal(err)
		}
		seen := map[column.Value]bool{}
		for i := range b.Rows {
			seen[out.At(i)] = true
		}
		if at := e.MostValues(func(int) (int64, int64, bool) { return least, most, true }); float64(len(seen)) > at {
			t.Errorf("%s: %d values, at most %v", text, len(seen), at)
		}
	}
}
