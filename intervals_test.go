package gagg_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/gagg-dev/gagg"
)

// Columns of intervals are keys, sorted, aggregated, computed with and put out, from Arrow and from
// Parquet, in memory and on disk.
func TestIntervals(t *testing.T) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.FixedWidthTypes.MonthDayNanoInterval, Nullable: true}, {Name: "g", Type: arrow.PrimitiveTypes.Int64},
	}, nil))
	for n := range 20_000 {
		if n%11 == 3 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.MonthDayNanoIntervalBuilder).Append(arrow.MonthDayNanoInterval{Months: int32(n % 14), Days: int32(n % 40), Nanoseconds: int64(n%7) * 1500e6})
		}
		b.Field(1).(*array.Int64Builder).Append(int64(n % 3))
	}
	rec := b.NewRecord()
	dir := t.TempDir()
	files := map[string]string{"arrow": filepath.Join(dir, "i.arrow"), "parquet": filepath.Join(dir, "i.parquet")}
	for _, path := range files {
		records, err := array.NewRecordReader(rec.Schema(), []arrow.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		if err := gagg.WriteFile(t.Context(), path, records, gagg.Output{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, path := range files {
		if got := typesOf(t, gagg.Files(path)); got != "i interval, g int64" {
			t.Errorf("%s: %s", name, got)
		}
		// as DuckDB 1.5 gives them
		for _, test := range []struct {
			q    gagg.Query
			want string
		}{
			{gagg.Query{By: []string{"i"}, Aggs: exprs("count(*)"), OrderBy: []string{"i"}, Limit: 4}, "00:00:00,65;2 days,65;4 days,66;6 days,64"},
			{gagg.Query{By: []string{"i"}, Aggs: exprs("count(*)"), OrderBy: []string{"i desc nulls last"}, Limit: 2}, "1 year 1 month 39 days 00:00:09,64;1 year 1 month 37 days 00:00:09,65"},
			{
				gagg.Query{By: []string{"g"}, Aggs: exprs("min(i), max(i), count(distinct i), min(i) filter (where g = 1)"), OrderBy: []string{"g"}},
				"0,00:00:00,1 year 1 month 39 days 00:00:09,280,;1,00:00:00,1 year 1 month 39 days 00:00:09,280,00:00:00;2,00:00:00,1 year 1 month 39 days 00:00:09,280,",
			},
			{gagg.Query{Aggs: exprs("count(*), max(extract(day from i)), sum(epoch(i))"), Where: "i < interval '1 month' and i <> interval '4 days'"}, "908,28,1156377600.0"},
			{gagg.Query{Aggs: exprs("min(i, 2), max(i::text)"), Where: "i between interval '1 day' and interval '2 days 1 second'"}, `"[2 days, 2 days]",2 days`},
		} {
			for _, o := range []gagg.Options{{}, {MemoryLimit: 64 << 20, Threads: 1}} {
				test.q.From = gagg.Files(path)
				var text bytes.Buffer
				rows, err := gagg.Run(t.Context(), test.q, o)
				if err == nil {
					err = gagg.Write(t.Context(), &text, rows, gagg.Output{})
					rows.Release()
				}
				// behind the header
				_, got, _ := strings.Cut(strings.TrimSpace(text.String()), "\n")
				if got = strings.ReplaceAll(got, "\n", ";"); err != nil || got != test.want {
					t.Errorf("%s, %v: %s, want %s; %v", name, test.q.By, got, test.want, err)
				}
			}
		}
	}
	states := filepath.Join(dir, "states.arrow")
	rows, err := gagg.Run(t.Context(), gagg.Query{From: gagg.Files(files["parquet"]), By: []string{"i"}, Aggs: exprs("max(i), list(i) filter (where g = 1)"), Partial: true}, gagg.Options{})
	if err == nil {
		err = gagg.WriteFile(t.Context(), states, rows, gagg.Output{})
		rows.Release()
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := answer(t, gagg.Query{From: gagg.Merge(gagg.Files(states)), OrderBy: []string{"i"}, Limit: 1}, gagg.Options{})
	if err != nil || !strings.HasPrefix(strings.Join(got, ";"), `{"months":0,"days":0,"nanoseconds":0}|{"months":0,"days":0,"nanoseconds":0}|[`) {
		t.Errorf("merged: %.100q, %v", got, err)
	}
	f, err := os.Open(files["parquet"])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	e := file.Metadata().Schema[1]
	stats := file.Metadata().RowGroups[0].Columns[0].MetaData.Statistics
	if e.ConvertedType.V != deprecated.Interval || e.TypeLength.V != 12 || len(stats.MinValue) != 0 || !slices.Equal(stats.MinValue, stats.MaxValue) {
		t.Errorf("%+v, %+v", e, stats)
	}
	b.Field(0).(*array.MonthDayNanoIntervalBuilder).Append(arrow.MonthDayNanoInterval{Days: 1, Nanoseconds: -1e9})
	b.Field(1).(*array.Int64Builder).Append(0)
	negative, err := array.NewRecordReader(rec.Schema(), []arrow.Record{b.NewRecord()})
	if err != nil {
		t.Fatal(err)
	}
	if err := gagg.WriteFile(t.Context(), filepath.Join(dir, "n.parquet"), negative, gagg.Output{}); err == nil || !strings.Contains(err.Error(), `column "i": 1 day -00:00:01 cannot be written`) {
		t.Error(err)
	}
}

// Intervals that are computed are keys, arguments of aggregates and results, as those of columns
// are: of times from 2024-01-01 on, in memory and on disk, and through states.
func TestComputedIntervals(t *testing.T) {
	const since = "ordered_at - timestamp '2024-01-01'"
	for _, test := range []struct {
		q    gagg.Query
		want string
	}{
		{gagg.Query{Aggs: exprs("max(" + since + "), min(" + since + "), count(distinct " + since + ")")}, "365 days 23:09:47,00:02:18,12000"},
		{gagg.Query{Aggs: exprs("max(ordered_at) - min(ordered_at), epoch(max(ordered_at) - min(ordered_at))")}, "365 days 23:07:29,31619249.0"},
		{gagg.Query{By: []string{"interval 1 month * quantity as d"}, Aggs: exprs("count(*)"), OrderBy: []string{"-d"}, Limit: 2}, "1 year,86;11 months,283"},
		{gagg.Query{By: []string{"interval 1 day * quantity as d"}, Having: "d > interval '10 days'", OrderBy: []string{"d"}}, "11 days;12 days"},
		{gagg.Query{By: []string{"region"}, Aggs: exprs("max(case when quantity > 11 then " + since + " end) filter (where price > 100)"), OrderBy: []string{"region"}, Limit: 1}, "Africa,360 days 17:58:52"},
		{gagg.Query{Aggs: exprs("arg_max(" + since + ", price), min(" + since + ", 2)")}, `6 days 15:33:41,"['00:02:18', '01:14:26']"`},
		{gagg.Query{Aggs: exprs("interval '1 month' as m, count(interval '1 day' * null)")}, "1 month,0"},
		{gagg.Query{By: []string{since + " as d"}, Aggs: exprs("count(*)"), OrderBy: []string{"d"}, Limit: 1}, "00:02:18,1"},
	} {
		test.q.From = gagg.Files(orders)
		for _, o := range []gagg.Options{{}, {MemoryLimit: 48 << 20, Threads: 1}} {
			var text bytes.Buffer
			rows, err := gagg.Run(t.Context(), test.q, o)
			if err == nil {
				err = gagg.Write(t.Context(), &text, rows, gagg.Output{})
				rows.Release()
			}
			_, got, _ := strings.Cut(strings.TrimSpace(text.String()), "\n") // behind the header
			if got = strings.ReplaceAll(got, "\n", ";"); err != nil || got != test.want {
				t.Errorf("%v %v: %s, want %s; %v", test.q.By, test.q.Aggs, got, test.want, err)
			}
		}
	}
	_, err := answer(t, gagg.Query{From: gagg.Files(orders), Aggs: exprs("max(interval 1 month * (quantity * 3000000000))")}, gagg.Options{})
	if !errors.Is(err, gagg.ErrOverflow) || !strings.Contains(err.Error(), "does not fit interval") {
		t.Error(err)
	}
}
