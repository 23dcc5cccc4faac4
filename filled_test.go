package gagg_test

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// parquetOf is a table of two integers and a text as a Parquet file, with so many NULLs in a and
// s. promised: its footer says that there are none.
func parquetOf(t *testing.T, nulls float64, promised bool) string {
	t.Helper()
	number, text := column.Type{Kind: column.Int64}, column.Type{Kind: column.String}
	table := datagen.New(datagen.Spec{Rows: 5000, Seed: 1, Columns: []datagen.Column{
		{Name: "k", Type: number, Distinct: 50}, {Name: "a", Type: number, Distinct: 20, Nulls: nulls}, {Name: "s", Type: text, Distinct: 30, Nulls: nulls},
	}})
	var b bytes.Buffer
	if err := table.WriteParquet(&b, datagen.Layout{}); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	if promised {
		file = withoutNullCounts(t, file)
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// withoutNullCounts is a file whose footer says that no column has a NULL.
func withoutNullCounts(t *testing.T, file []byte) []byte {
	t.Helper()
	changed := 0
	out := withFooter(t, file, func(m *format.ColumnMetaData) {
		if m.Statistics.NullCount > 0 {
			changed++
		}
		m.Statistics.NullCount = 0
	})
	if changed == 0 {
		t.Fatal("no column has NULLs")
	}
	return out
}

// withFooter is a file in whose footer each column chunk was changed.
func withFooter(t *testing.T, file []byte, change func(*format.ColumnMetaData)) []byte {
	t.Helper()
	tail := file[len(file)-8:]
	at := len(file) - 8 - int(binary.LittleEndian.Uint32(tail))
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), file[at:len(file)-8], &meta); err != nil {
		t.Fatal(err)
	}
	for g := range meta.RowGroups {
		for c := range meta.RowGroups[g].Columns {
			change(&meta.RowGroups[g].Columns[c].MetaData)
		}
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		t.Fatal(err)
	}
	out := append(slices.Clone(file[:at]), footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), tail[4:]...)
}

// Columns that have no NULL by the footer take no room for it. If the footer lies, or an
// expression makes NULL of values, the input is read again, and the answer is right.
func TestFilled(t *testing.T) {
	for _, q := range []gagg.Query{
		{By: []string{"k", "a"}, Aggs: []gagg.Agg{gagg.CountAll(), gagg.Sum("a"), gagg.Mean("a + k"), gagg.Min("s"), gagg.Count("s")}},
		{By: []string{"k"}, Aggs: []gagg.Agg{gagg.Sum("a"), gagg.Mean("a"), gagg.VarSamp("a"), gagg.Max("a"), gagg.Count("a"), gagg.First("s"), gagg.Median("a")}},
		{By: []string{"s"}, Aggs: []gagg.Agg{gagg.Expr("count(distinct a)"), gagg.Expr("sum(distinct k)"), gagg.Expr("bool_and(a > 3)")}},
		{By: []string{"a", "s"}, Sets: "(a, s), (s), ()", Aggs: []gagg.Agg{gagg.Expr("count(distinct k)"), gagg.Expr("sum(distinct a)")}},
		{By: []string{"k % (a - a)"}, Aggs: []gagg.Agg{gagg.Sum("a / (k - k)"), gagg.CountAll()}},
		{By: []string{"k"}, Aggs: []gagg.Agg{gagg.Expr("sum(a) filter (where a > 5)"), gagg.Expr("min(case when a > 7 then k end)")}},
		{Aggs: []gagg.Agg{gagg.Sum("a"), gagg.Min("s"), gagg.Count("a")}, Where: "k is null"},
	} {
		for _, nulls := range []float64{0, .3} {
			var want []string
			for _, promised := range []bool{false, nulls > 0} {
				var log bytes.Buffer
				o := gagg.Options{Threads: 2, Device: "cpu", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
				q.From = gagg.Files(parquetOf(t, nulls, promised))
				got := mustAnswer(t, q, o)
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v, %.1f NULLs, promised %t: %v, want %v", q.By, nulls, promised, got, want)
				}
				usesA := len(q.By) > 0 && q.Aggs[0] != gagg.Expr("sum(a) filter (where a > 5)")
				if again := strings.Contains(log.String(), "read again"); promised && usesA && !again {
					t.Errorf("%v: not read again", q.By)
				}
			}
		}
	}
}
