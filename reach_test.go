package gagg_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg"
)

// sumRow is a row of a key and of numbers of several types.
type sumRow struct {
	K     int64    `parquet:"k"`
	Coded int64    `parquet:"coded,dict"`
	Some  *int64   `parquet:"some,optional"`
	Short int64    `parquet:"short,decimal(2:15)"`
	Wide  [13]byte `parquet:"wide,decimal(4:30)"`
}

// sumsFile is a table of numbers from 0 to some thousands. far: some are far from 0, and the
// footer says nothing of them.
func sumsFile(t *testing.T, far bool) string {
	t.Helper()
	var b bytes.Buffer
	file := parquet.NewGenericWriter[sumRow](&b)
	for i := range int64(6000) {
		n := i * 7919 % 5003
		if far && i%1000 == 999 {
			n = 1<<61 + i
		}
		r := sumRow{K: i * 31 % 2003, Coded: n % 50, Short: n}
		if far {
			r.Coded = n
		}
		if i%7 > 0 {
			r.Some = &n
		}
		binary.BigEndian.PutUint64(r.Wide[5:], uint64(n))
		if far && i == 5999 {
			r.Wide[0] = 1 // more than 64 bits
		}
		if _, err := file.Write([]sumRow{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	out := b.Bytes()
	if far {
		out = withNearEnds(t, out)
	}
	path := filepath.Join(t.TempDir(), "sums.parquet")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// withNearEnds is a file whose footer says that all numbers are from 0 to 1.
func withNearEnds(t *testing.T, file []byte) []byte {
	t.Helper()
	return withFooter(t, file, func(m *format.ColumnMetaData) {
		n := len(m.Statistics.MinValue)
		low, high := make([]byte, n), make([]byte, n)
		if n > 0 && m.Type == format.FixedLenByteArray {
			high[n-1] = 1 // the most significant byte comes first
		} else if n > 0 {
			high[0] = 1
		}
		m.Statistics.MinValue, m.Statistics.MaxValue, m.Statistics.Min, m.Statistics.Max = low, high, nil, nil
	})
}

// Sums of columns whose statistics are small take one word, and are right. If the statistics lie,
// the input is read again.
func TestSumBits(t *testing.T) {
	args := []string{"coded", "some", "short", "wide", "short * (1 - short)", "some + coded"}
	for k, far := range []bool{false, true, true} {
		if far { // products and sums of such numbers overflow
			// the numbers of the last are no decimals, which have digits to exceed
			args = args[:min(4, 6-2*k)]
		}
		from := gagg.Files(sumsFile(t, far))
		var log bytes.Buffer
		o := gagg.Options{Threads: 2, Device: "cpu", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		ask := func(form string) (lines []string, words int) {
			q := gagg.Query{From: from, By: []string{"k"}}
			for _, arg := range args {
				arg = fmt.Sprintf(form, arg)
				q.Aggs = append(q.Aggs, gagg.Expr("sum("+arg+")"), gagg.Expr("avg("+arg+")"))
			}
			lines = mustAnswer(t, q, o)
			plan, err := gagg.Plan(t.Context(), q, o)
			if err != nil {
				t.Fatal(err)
			}
			return lines, plan.StateWords
		}
		got, words := ask("%s")
		if again := strings.Contains(log.String(), "read again"); again != far {
			t.Errorf("far %t: read again %t", far, again)
		}
		want, plain := ask("case when k = k then %s end") // nobody knows where it is
		for i := range want {
			if got[i] != want[i] && i > 0 {
				t.Fatalf("far %t: %s, want %s", far, got[i], want[i])
			}
		}
		if words >= plain {
			t.Errorf("%d words, without the statistics %d", words, plain)
		}
	}
}

// A mean and the count of rows take one word if, by the statistics, no value is negative or
// large. They are right, also in the order and the filter of groups. If the statistics lie, the
// input is read again.
func TestCountedSums(t *testing.T) {
	type row struct {
		K int64 `parquet:"k"`
		N int64 `parquet:"n"`
	}
	for name, c := range map[string]struct {
		value func(i int64) int64
		lies  bool
	}{
		"true":     {func(i int64) int64 { return i * 7919 % 5003 }, false},
		"large":    {func(i int64) int64 { return i * 7919 % 5003 }, true},
		"negative": {func(i int64) int64 { return -(i % 2) }, true},
		"far":      {func(i int64) int64 { return i % 2 << 62 }, true},
	} {
		var b bytes.Buffer
		file := parquet.NewGenericWriter[row](&b)
		for i := range int64(6000) {
			if _, err := file.Write([]row{{K: i * 31 % 2003, N: c.value(i)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		out := b.Bytes()
		if c.lies {
			out = withFooter(t, out, func(m *format.ColumnMetaData) {
				if m.PathInSchema[0] == "n" {
					m.Statistics.MinValue, m.Statistics.MaxValue = make([]byte, 8), []byte{1, 0, 0, 0, 0, 0, 0, 0}
					m.Statistics.Min, m.Statistics.Max = nil, nil
				}
			})
		}
		path := filepath.Join(t.TempDir(), "counted.parquet")
		if err := os.WriteFile(path, out, 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		o := gagg.Options{Threads: 2, Device: "cpu", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		for _, more := range []gagg.Query{
			{}, {OrderBy: []string{"s desc", "k"}, Limit: 7}, {OrderBy: []string{"c", "s", "k"}, Limit: 7}, {Having: "sum(n) > 7000 and count(*) < 4"}, {Having: "sum(n) < 3000"},
		} {
			q := more
			q.From, q.By = gagg.Files(path), []string{"k"}
			ask := func(arg string) []string {
				q.Aggs = []gagg.Agg{gagg.Expr("sum(" + arg + ") as s"), gagg.Expr("count(*) as c"), gagg.Expr("avg(" + arg + ") as a")}
				return mustAnswer(t, q, o)
			}
			got, want := ask("n"), ask("case when k = k then n end") // nobody knows where that is
			if !slices.Equal(got, want) {
				t.Errorf("%s, %+v: %d lines, want %d: %q, want %q", name, more, len(got), len(want), got[:min(len(got), 5)], want[:min(len(want), 5)])
			}
			plan, err := gagg.Plan(t.Context(), q, o)
			if err != nil {
				t.Fatal(err)
			}
			ask("n")
			q.Aggs = []gagg.Agg{gagg.Expr("sum(n) as s"), gagg.Expr("count(*) as c"), gagg.Expr("avg(n) as a")}
			if packed, err := gagg.Plan(t.Context(), q, o); err != nil || packed.StateWords != 1 || plan.StateWords < 3 {
				t.Errorf("%s: %d words, %d without statistics: %v", name, packed.StateWords, plan.StateWords, err)
			}
		}
		if again := strings.Contains(log.String(), "read again"); again != c.lies {
			t.Errorf("%s: read again: %t", name, again)
		}
	}
}
