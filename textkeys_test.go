package gagg_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
)

// textRow is texts of 36 bytes, of 0 to 70 or none, and of 20 bytes of a fixed size.
type textRow struct {
	ID   string   `parquet:"id,plain"`
	Name *string  `parquet:"name,plain,optional"`
	Hash [20]byte `parquet:"hash"`
	N    int64    `parquet:"n"`
}

func textRows(n int) (rows []textRow) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		k, m := r.IntN(n/3), r.IntN(n/10)
		row := textRow{ID: fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", k*77, k&0xfff, k>>4&0xff, 7, k), N: int64(i % 5)}
		if m%50 != 0 {
			name := fmt.Sprintf("%0*d", m%70, m)
			row.Name = &name
		}
		copy(row.Hash[:], fmt.Sprintf("%020d", k%1000))
		rows = append(rows, row)
	}
	return rows
}

// textRecord is the rows as Arrow has them.
func textRecord(t *testing.T, rows []textRow) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "hash", Type: &arrow.FixedSizeBinaryType{ByteWidth: 20}},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
	}, nil))
	defer b.Release()
	for _, row := range rows {
		b.Field(0).(*array.StringBuilder).Append(row.ID)
		if row.Name == nil {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(*row.Name)
		}
		b.Field(2).(*array.FixedSizeBinaryBuilder).Append(row.Hash[:])
		b.Field(3).(*array.Int64Builder).Append(row.N)
	}
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}

// textFile writes the rows as plain pages.
func textFile(t *testing.T, rows []textRow) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[textRow](&b, parquet.MaxRowsPerRowGroup(5000))
	_, err := w.Write(rows)
	if err == nil {
		err = w.Close()
	}
	path := filepath.Join(t.TempDir(), "texts.parquet")
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Keys hold texts themselves where the file says that most are short enough. Records say
// nothing of the kind, and have the same groups in the same order.
func TestTextKeys(t *testing.T) {
	rows := textRows(30_000)
	rec, file := textRecord(t, rows), textFile(t, rows)
	for _, x := range []struct {
		by    []string
		aggs  []string
		words int
		order []string
		limit int64
	}{
		{[]string{"id"}, []string{"count(*)", "sum(n)", "min(name)"}, 5, nil, 0},
		{[]string{"name"}, []string{"count(*)", "max(id)"}, 6, nil, 0},
		{[]string{"hash"}, []string{"count(*)", "count(distinct id)"}, 3, nil, 0},
		{[]string{"n"}, []string{"count(distinct id)", "count(distinct name)"}, 1, nil, 0},
		{nil, []string{"count(distinct id)", "count(distinct name)", "count(distinct hash)"}, 0, nil, 0},
		{[]string{"id", "n"}, []string{"count(*)"}, 6, []string{"id desc", "n"}, 100},
		{[]string{"name", "id"}, []string{"count(*) as c"}, 11, []string{"c desc", "name", "id"}, 50},
	} {
		q := gagg.Query{By: x.by, Aggs: exprs(x.aggs...), OrderBy: x.order, Limit: x.limit}
		reader, err := array.NewRecordReader(rec.Schema(), []arrow.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		q.From = gagg.Records(reader)
		want := mustAnswer(t, q, gagg.Options{Threads: 1})
		reader.Release()
		q.From = gagg.Files(file)
		for _, o := range []gagg.Options{
			{Threads: 1},
			{Threads: 3},
			{Threads: 2, Partitions: 64, BatchRows: 777},
			{Threads: 2, MemoryLimit: 36 << 20, TempDir: t.TempDir()},
		} {
			plan, err := gagg.Plan(t.Context(), q, o)
			if err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
			if plan.KeyWords != x.words {
				t.Errorf("%q: %d words instead of %d", x.by, plan.KeyWords, x.words)
			}
			if got := mustAnswer(t, q, o); !slices.Equal(got, want) {
				t.Errorf("%q, %q, %+v: other groups, or in another order", x.by, x.aggs, o)
			}
		}
	}
}
