package datagen_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/datagen"
)

// Benchmarks compare results over months: the bytes may not depend on the
// number of threads, and the layout is DuckDB's.
func TestH2O(t *testing.T) {
	table := datagen.H2O{Rows: 300_000, Seed: 1}
	one := writeH2O(t, table, 1)
	if many := writeH2O(t, table, 4); sha256.Sum256(one) != sha256.Sum256(many) {
		t.Error("another number of threads gives another file")
	}
	file, err := parquet.OpenFile(bytes.NewReader(one), int64(len(one)))
	if err != nil {
		t.Fatal(err)
	}
	var rows []int64
	for _, g := range file.Metadata().RowGroups {
		rows = append(rows, g.NumRows)
		for _, c := range g.Columns {
			if pages := c.MetaData.EncodingStats; len(pages) > 2 {
				t.Errorf("column %v has pages %v, want one data page", c.MetaData.PathInSchema, pages)
			}
		}
	}
	if got := fmt.Sprint(rows); got != "[122880 122880 54240]" {
		t.Errorf("row groups of %s rows", got)
	}
	for c, pages := range file.OffsetIndexes() {
		if len(pages.PageLocations) != 1 {
			t.Errorf("column chunk %d has %d data pages", c, len(pages.PageLocations))
		}
	}
	checkH2ORows(t, file)
}

func checkH2ORows(t *testing.T, file *parquet.File) {
	t.Helper()
	bounds := []struct{ low, high string }{
		{"id001", "id100"},
		{"id001", "id100"},
		{"id0000000001", "id0000003000"},
		{"1", "100"},
		{"1", "100"},
		{"1", "3000"},
		{"1", "5"},
		{"1", "15"},
		{"0", "100"},
	}
	row := make([]parquet.Row, 1)
	rows := file.RowGroups()[2].Rows()
	defer rows.Close()
	for range 1000 {
		if n, err := rows.ReadRows(row); n != 1 {
			t.Fatal(err)
		}
		for c, v := range row[0] {
			inside := v.String() >= bounds[c].low && v.String() <= bounds[c].high
			if c >= 3 {
				var low, high float64
				fmt.Sscan(bounds[c].low, &low)
				fmt.Sscan(bounds[c].high, &high)
				inside = toFloat(v) >= low && toFloat(v) <= high
			}
			if v.IsNull() || !inside {
				t.Fatalf("column %d holds %v, want %s to %s", c, v, bounds[c].low, bounds[c].high)
			}
		}
	}
}

func toFloat(v parquet.Value) float64 {
	if v.Kind() == parquet.Double {
		return v.Double()
	}
	return float64(v.Int32())
}

func writeH2O(t *testing.T, table datagen.H2O, threads int) []byte {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	var out bytes.Buffer
	if err := table.WriteParquet(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The bundled file is what its generator makes, but for the footer, which names how the writer was
// built.
func TestBundledH2O(t *testing.T) {
	bundled, err := os.ReadFile("../../testdata/h2o.parquet")
	if err != nil {
		t.Fatal(err)
	}
	pages := func(file []byte) []byte {
		end := len(file) - 8
		return file[:end-int(binary.LittleEndian.Uint32(file[end:]))]
	}
	if !bytes.Equal(pages(writeH2O(t, datagen.H2O{Rows: 10_000, Seed: 1}, 1)), pages(bundled)) {
		t.Error("testdata/h2o.parquet differs; run: go run ./bench/h2o -rows 1e4 -o testdata/h2o.parquet")
	}
}
