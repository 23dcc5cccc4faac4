package expr

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/column"
)

// TestIntervalText protects that an interval prints as a text that reads as the same interval.
func TestIntervalText(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	spans := []Span{{}, {Micros: -1}, {Months: 12}, {Micros: 10_000_000}, {Days: -1}, {Months: -13, Days: 1, Micros: 3_600_000_000}, {Micros: math.MaxInt64 - 999_999}}
	for range 1000 {
		spans = append(spans, Span{r.Int64N(3000) - 1500, r.Int64N(100) - 50, r.Int64N(1e12) - 5e11})
	}
	for _, s := range spans {
		if got, ok := parseSpan(s.String()); !ok || got != s {
			t.Errorf("%v prints as %q, which reads as %v, %v", [3]int64{s.Months, s.Days, s.Micros}, s, got, ok)
		}
	}
}

// TestIntervalMistakes protects that what intervals cannot do is told so, with what can be done.
func TestIntervalMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"coalesce(interval '1 day', null)":           "epoch(x) is its seconds",
		"interval '1 day' in (interval '1 day', 1)":  "cannot compare interval and int64",
		"interval '1 day' and true":                  "and needs boolean operands, not interval",
		"interval '1 day' = 1":                       "cannot compare interval and int64",
		"interval '1 day' * 1.5":                     "an interval can be multiplied by an integer, not by decimal(2,1)",
		"1 + interval '1 day'":                       "cannot add int64 and interval",
		"interval '1 day' - date '2024-01-31'":       "cannot subtract interval and date",
		"interval '1 dya'":                           "'1 dya' is not an interval such as '1 day 2 hours'",
		"interval 1 dya":                             "expected a unit, such as day, found \"dya\" (did you mean \"day\"?)",
		"interval '1.5' day":                         "write interval '1.5 day'",
		"date_diff('dya', date '2024-01-31', null)":  "",
		"date_diff('yaer', day, day)":                "knows no unit 'yaer' (did you mean \"year\"?)",
		"time_bucket(interval '0 days', day)":        "must be greater than 0",
		"time_bucket(interval (i) day, day)":         "the width of time_bucket must be a constant",
		"time_bucket(interval '1 month 1 day', day)": "of months or of days and times, not of both",
		"time_bucket(1, day)":                        "time_bucket needs an interval",
		"day at time zone 'Europe/Berln'":            "unknown time zone 'Europe/Berln'; names are as Europe/Berlin",
		"day at time zone 'Local'":                   "unknown time zone 'Local'",
		"day at time zone '../../etc/localtime'":     "unknown time zone",
		"strftime(day, '%Q')":                        "strftime knows no '%Q'; a percent sign is %%",
		"strptime('x', '%U')":                        "strptime knows no '%U'",
		"cast(day as interval)":                      "cannot cast date to interval",
		"day + interval '178956970 years'":           "does not fit timestamp[us]",
		"day + interval '178956971 years'":           "'178956971 years' is not an interval",
		"day + interval '9223372036854775808 us'":    "'9223372036854775808 us' is not an interval",
		"day + interval (i + 2147483647) months":     "does not fit interval",
		"make_date(i, 13, 1)":                        "to date",
	} {
		_, err := Parse(text)
		if err == nil {
			var e *Expr
			n, _ := Parse(text)
			if e, err = Bind(n, text, testLookup); err == nil {
				var out column.Vector
				data := randomRows(rand.New(rand.NewPCG(1, 1)), 50, false)
				err = e.NewEval().Eval(data.batch(rand.New(rand.NewPCG(1, 1)), false), &out)
			}
		}
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want …%s…", text, err, want)
		}
	}
}

// TestZonesAsPackageTime protects the conversions of instants by time zones: random instants, in
// order and not, become what package time gives, and come back where clocks show a time only
// once.
func TestZonesAsPackageTime(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"} {
		at, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		var rows []column.Value
		instant := column.TimestampType(column.Micro, true)
		for i := range 2000 {
			v := column.Value{Type: instant, Int: r.Int64N(8e15) - 4e15}
			if i%2 == 1 {
				v.Int = rows[i-1].Int + r.Int64N(86400e6)
			}
			rows = append(rows, v)
		}
		text := "timezone('" + name + "', x)"
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		convert := func(in column.Vector) column.Vector {
			e, err := Bind(n, text, func(string) (int, column.Type, error) { return 0, in.Type, nil })
			if err != nil {
				t.Fatal(err)
			}
			var out column.Vector
			if err := e.NewEval().Eval(&column.Batch{Rows: len(rows), Cols: []column.Vector{in}}, &out); err != nil {
				t.Fatal(err)
			}
			out.Type = e.Type()
			return out
		}
		local := convert(flatVector(instant, rows))
		again := convert(local)
		once := 0
		for i, v := range rows {
			w := time.UnixMicro(v.Int).In(at)
			_, off := w.Zone()
			if want := v.Int + int64(off)*1e6; local.Int[i] != want {
				t.Fatalf("%s at %s: %d, want %d", name, w, local.Int[i], want)
			}
			if _, later := time.UnixMicro(v.Int).Add(2 * time.Hour).In(at).Zone(); later != off {
				continue
			}
			once++
			if again.Int[i] != v.Int {
				t.Fatalf("%s at %s: the instant comes back as %d, want %d", name, w, again.Int[i], v.Int)
			}
		}
		if once < 1900 {
			t.Errorf("%s: only %d instants compared", name, once)
		}
	}
}

// TestIntervalColumn protects that a column of intervals is computed with as DuckDB does: 14
// months, 3 days and 04:05:06.007, and the greatest number of milliseconds that Parquet has.
func TestIntervalColumn(t *testing.T) {
	t.Parallel()
	typ := column.IntervalType
	rows := []column.Value{
		{Type: typ, Wide: column.NewInterval(14, 3, 14_706_007_000)},
		{Type: typ, Null: true},
		{Type: typ, Wide: column.NewInterval(0, 0, 4294967295000)},
	}
	for text, want := range map[string][3]string{
		"epoch(x::interval)": {"37015506.007", "", "4294967.295"},
		"(timestamp '2024-01-31 12:00:00' + x::interval)::text": {"2025-04-03 16:05:06.007", "", "2024-03-21 05:02:47.295"},
		"(x::interval > interval '1 year')::text":               {"true", "", "false"},
		"date_part('month', x::interval)::text":                 {"2", "", "0"},
		"epoch(x)":                                              {"37015506.007", "", "4294967.295"},
		"x::text":                                               {"1 year 2 months 3 days 04:05:06.007", "", "1193:02:47.295"},
		"(x + interval '1 day')::text":                          {"1 year 2 months 4 days 04:05:06.007", "", "1 day 1193:02:47.295"},
		"(x between interval '0 days' and x)::text":             {"true", "", "true"},
		"coalesce((case when epoch(x) > 5e6 then x end)::text, 'no' || x::text)": {"1 year 2 months 3 days 04:05:06.007", "", "no1193:02:47.295"},
	} {
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Bind(n, text, func(string) (int, column.Type, error) { return 0, typ, nil })
		if err != nil {
			t.Fatal(err)
		}
		var out column.Vector
		if err := e.NewEval().Eval(&column.Batch{Rows: len(rows), Cols: []column.Vector{flatVector(typ, rows)}}, &out); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if v := out.At(i); v.Null != rows[i].Null || !v.Null && textOf(v) != want[i] {
				t.Errorf("%s, row %d: %q, want %q", text, i, textOf(v), want[i])
			}
		}
	}
}
