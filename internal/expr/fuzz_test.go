package expr

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// FuzzEval protects against panics in binding and evaluation, and that flat
// and dictionary-coded columns give the same values and the same failures.
func FuzzEval(f *testing.F) {
	for _, s := range []string{
		"i + j * u", "p * w % 0.3", "case s when 'a' then d else f end", "day + j = ms", "upper(s) || ns", "w::double < d", "s::int8 + 1",
		"u in (1, 2.5, null) or b", "ms::date between '2000-01-01' and day", "abs(-i) = length(s)", "coalesce(p, i, 0.00001)", "s like '%a_' and not b",
		"extract(minute from ms) + week(day)", "date_trunc('week', ns)", "regexp_replace(s, '(a)|b*', '<\\1>', 'g')", "regexp_extract(s, 'a', 0, 'i')",
		"day + interval '1 month' - ms > i * interval '1 day 2 hours'", "time_bucket(interval '15 minutes', ms, ns)", "date_diff('week', day, ns)",
		"strftime(ms, '%c %f')", "ns at time zone 'Asia/Tokyo'", "try_strptime(s, '%d.%m.%y %H')", "make_timestamp(i, j, 1, 2, 3, f)", "epoch(ns - day)",
		"(i & ~j) << 2 | u >> 1", "hash(s, i, null)", "concat_ws(s, i, day)", "translate(s, 'ab', 'x')", "s like '!%a' escape '!'", "hex(i) || md5(s)",
	} {
		f.Add(s, uint64(1))
	}
	f.Fuzz(func(t *testing.T, s string, seed uint64) {
		n, err := Parse(s)
		if err != nil {
			return
		}
		e, err := Bind(n, s, testLookup)
		if err != nil {
			var located *Error
			if !errors.As(err, &located) {
				t.Fatalf("%q: %T, want *Error", s, err)
			}
			return
		}
		r := rand.New(rand.NewPCG(seed, 3))
		data := randomRows(r, 20, seed%2 == 0)
		e.CanSkip(func(i int) column.Bounds { return boundsOf(r, data, i) })
		var flat, dict column.Vector
		errFlat := e.NewEval().Eval(data.batch(r, false), &flat)
		errDict := e.NewEval().Eval(data.batch(r, true), &dict)
		if (errFlat == nil) != (errDict == nil) {
			t.Fatalf("%q: flat %v, dictionary %v", s, errFlat, errDict)
		}
		for i := 0; errFlat == nil && i < data.n; i++ {
			a, b := flat.At(i), dict.At(i)
			if a.Null != b.Null || !a.Null && compareStored(a, b) != 0 {
				t.Fatalf("%q, row %d: flat %+v, dictionary %+v", s, i, a, b)
			}
		}
	})
}
