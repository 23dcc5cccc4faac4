package expr

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// A time that stands for a text has the same text, and different ones have different texts.
func TestTold(t *testing.T) {
	t.Parallel()
	for text, told := range map[string]bool{
		"dayname(ms)": true, "monthname(ns)": true, "dayname(day)": true, "monthname(day)": true,
		"strftime(ms, '%Y')": true, "strftime(ns, '%m/%Y')": true, "strftime(day, '%b %Y')": true, "strftime(ms, '%Y-%m-%d')": true,
		"strftime(ms, '%j of %Y')": true, "strftime(ms, '%d.%m.%Y %H h')": true, "strftime(ns, '%Y%m%d%H%M')": true,
		"strftime(ns, '%Y-%m-%dT%H:%M:%S')": true, "strftime(day, '%Y-%m-%d %H')": true,
		"strftime(ms, '%m')": false, "strftime(ms, '%Y-%d')": false, "strftime(ms, '%Y %a')": false, "strftime(ms, '%H')": false,
		"strftime(ms, '%Y%Y')": false, "strftime(ms, '%Y-%-m')": false, "strftime(ms, '%y-%m-%d')": false, "strftime(ms, '%Y-%B')": false,
		"strftime(ns, '%Y-%m-%d %H:%M:%S.%f')": false, "strftime(ms, 'x')": false, "hour(ms)": false,
	} {
		e := bindText(t, text)
		time, ok := e.Told()
		if ok != told {
			t.Errorf("%s: told %v", text, ok)
		}
		if !ok {
			continue
		}
		col := e.Columns()[0]
		typ := testColumns[col].Type
		r := rand.New(rand.NewPCG(3, 5))
		times := column.Vector{Type: typ}
		second := max(stepsPerDay(typ)/secondsPerDay, 1)
		for i := range 3000 {
			v := r.Int64N(int64(1)<<(10+i%30)) * second
			switch {
			case typ.Kind == column.Date:
				v /= secondsPerDay
			case i%100 < 3:
				v = math.MinInt64 + int64(i)*second*1000
			case i%100 < 6:
				v = math.MaxInt64 - int64(i)*second*1000
			}
			times.Append(column.Value{Type: typ, Int: v, Null: i%50 == 7})
			times.Append(column.Value{Type: typ, Int: max(v/8*7, -v)})
		}
		cols := make([]column.Vector, col+1)
		eval := func(e *Expr, of column.Vector) (out column.Vector) {
			cols[col] = of
			if err := e.NewEval().Eval(&column.Batch{Rows: of.Len, Cols: cols}, &out); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			return out
		}
		want, stand := eval(e, times), eval(time, times)
		flat := column.Vector{Type: time.Type()}
		for i := range stand.Len {
			flat.Append(stand.At(i))
		}
		of, at := e, col
		if flat.Type != typ { // the date of a time
			of = bindText(t, strings.NewReplacer("(ms", "(day", "(ns", "(day").Replace(text))
			at = of.Columns()[0]
		}
		cols = make([]column.Vector, max(at, col)+1)
		col = at
		got := eval(of, flat)
		byText, byTime := map[string]int64{}, map[int64]string{}
		for i := range times.Len {
			w, g := want.At(i), got.At(i)
			if w != g {
				t.Fatalf("%s of %d: %+v, of %d that stands for it %+v", text, times.Int[i], w, flat.Int[i], g)
			}
			if w.Null {
				continue
			}
			if v, there := byText[w.Bytes]; there && v != flat.Int[i] {
				t.Fatalf("%s: %d and %d have the text %q", text, v, flat.Int[i], w.Bytes)
			}
			if s, there := byTime[flat.Int[i]]; there && s != w.Bytes {
				t.Fatalf("%s: %d has %q and %q", text, flat.Int[i], s, w.Bytes)
			}
			byText[w.Bytes], byTime[flat.Int[i]] = flat.Int[i], w.Bytes
		}
	}
}
