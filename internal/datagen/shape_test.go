package datagen_test

import (
	"bytes"
	"crypto/sha256"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/datagen"
)

// Rows are more than a row group, so that what a row holds depends on its
// place in the table and not on that in the row group.
const shapeRows = 130_000

// Each shape holds what it promises: groups, how often each comes, what its
// values are.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		shape          datagen.Shape
		groups, values int // 0: see below
		least, most    int // rows of a group
	}{
		{datagen.Shape{Kind: "wide"}, shapeRows / 2, 1000, 2, 2},
		{datagen.Shape{Kind: "wide", Groups: shapeRows, Width: 64}, shapeRows, 1000, 1, 1},
		{datagen.Shape{Kind: "one"}, 1, 0, shapeRows, shapeRows},
		{datagen.Shape{Kind: "distinct"}, 1, shapeRows, shapeRows, shapeRows},
		{datagen.Shape{Kind: "distinct", Groups: 7}, 7, shapeRows, shapeRows / 7, shapeRows/7 + 1},
		{datagen.Shape{Kind: "text"}, shapeRows / 1000, shapeRows, 1000, 1000},
		{datagen.Shape{Kind: "zipf"}, 0, 1000, 1, shapeRows},
	} {
		c.shape.Rows, c.shape.Seed = shapeRows, 3
		keys, values := map[string]int{}, map[string]bool{}
		eachRow(t, writeShape(t, c.shape), func(k, v parquet.Value) {
			keys[k.String()]++
			values[v.String()] = true
		})
		if c.groups > 0 && len(keys) != c.groups || c.values > 0 && len(values) != c.values {
			t.Errorf("%+v: %d groups and %d values, want %d and %d", c.shape, len(keys), len(values), c.groups, c.values)
		}
		rows := 0
		for k, n := range keys {
			rows += n
			if n < c.least || n > c.most {
				t.Fatalf("%+v: key %s comes %d times", c.shape, k, n)
			}
		}
		if rows != shapeRows {
			t.Errorf("%+v: %d rows", c.shape, rows)
		}
	}
}

// With the exponent 1.5 the commonest key has 1/ζ(1.5) = 38 % of the rows, the
// second 2^-1.5 of that.
func TestShapeZipf(t *testing.T) {
	counts := map[int64]int{}
	eachRow(t, writeShape(t, datagen.Shape{Kind: "zipf", Rows: shapeRows}), func(k, _ parquet.Value) { counts[k.Int64()]++ })
	first, second := 0, 0
	for _, n := range counts {
		if n > first {
			first, n = n, first
		}
		second = max(second, n)
	}
	if share := float64(first) / shapeRows; share < 0.36 || share > 0.41 {
		t.Errorf("the commonest key has %.2f of the rows", share)
	}
	if ratio := float64(second) / float64(first); ratio < 0.33 || ratio > 0.38 {
		t.Errorf("the second key has %.2f of the first one's rows", ratio)
	}
	if len(counts) < 3000 || len(counts) > 20000 {
		t.Errorf("%d keys", len(counts))
	}
}

func TestShapeStrings(t *testing.T) {
	for _, s := range []datagen.Shape{{Kind: "wide", Groups: 2000}, {Kind: "wide", Groups: 2000, Width: 43}, {Kind: "text", Groups: 9}, {Kind: "text", Width: 1000}} {
		s.Rows = 2000
		width := s.Width
		file := writeShape(t, s)
		eachRow(t, file, func(k, v parquet.Value) {
			if s.Kind == "wide" {
				v = k
			}
			text := v.ByteArray()
			if width == 0 {
				width = map[string]int{"wide": 200, "text": 100}[s.Kind]
			}
			if len(text) != width || bytes.ContainsAny(text, "|\x00") {
				t.Fatalf("%+v: %q", s, text)
			}
		})
		const prefix = 23 // that all keys of wide share
		if compressed := len(file) < 2000*(width-prefix); compressed != (s.Kind == "text") {
			t.Errorf("%+v: %d bytes", s, len(file))
		}
	}
}

func TestShapeLayout(t *testing.T) {
	shape := datagen.Shape{Kind: "text", Rows: 250_000, Seed: 1}
	previous := runtime.GOMAXPROCS(1)
	one := writeShape(t, shape)
	runtime.GOMAXPROCS(4)
	many := writeShape(t, shape)
	runtime.GOMAXPROCS(previous)
	if sha256.Sum256(one) != sha256.Sum256(many) {
		t.Error("another number of threads gives another file")
	}
	shape.Seed = 2
	if sha256.Sum256(one) == sha256.Sum256(writeShape(t, shape)) {
		t.Error("another seed gives the same file")
	}
	for i, g := range open(t, one).Metadata().RowGroups {
		if want := []int64{122880, 122880, 4240}[i]; g.NumRows != want {
			t.Errorf("row group %d has %d rows, want %d", i, g.NumRows, want)
		}
		for _, c := range g.Columns {
			if c.MetaData.Codec != format.Snappy || c.MetaData.DictionaryPageOffset != 0 {
				t.Errorf("column %v: %v, dictionary at %d", c.MetaData.PathInSchema, c.MetaData.Codec, c.MetaData.DictionaryPageOffset)
			}
		}
	}
}

func TestShapeRefuses(t *testing.T) {
	for want, s := range map[string]datagen.Shape{
		`no kind "tall"`: {Kind: "tall", Rows: 1},
		"negative":       {Kind: "text", Rows: -1},
		"one group":      {Kind: "one", Rows: 9, Groups: 2},
		"as many rows":   {Kind: "wide", Rows: 9, Groups: 10},
		"43 bytes":       {Kind: "wide", Rows: 9, Width: 42},
	} {
		if err := s.WriteParquet(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
	for _, kind := range []string{"wide", "zipf", "one", "distinct", "text"} {
		for _, rows := range []int64{0, 1} {
			if got := open(t, writeShape(t, datagen.Shape{Kind: kind, Rows: rows})).NumRows(); got != rows {
				t.Errorf("%s: %d rows, want %d", kind, got, rows)
			}
		}
	}
}

func writeShape(t *testing.T, s datagen.Shape) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := s.WriteParquet(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(t *testing.T, data []byte) *parquet.File {
	t.Helper()
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// eachRow calls f with the key and the value of every row.
func eachRow(t *testing.T, data []byte, f func(k, v parquet.Value)) {
	t.Helper()
	rows := make([]parquet.Row, 1000)
	for _, g := range open(t, data).RowGroups() {
		in := g.Rows()
		for {
			n, err := in.ReadRows(rows)
			for _, row := range rows[:n] {
				f(row[0], row[1])
			}
			if err != nil || n == 0 {
				break // io.EOF; missing rows show in the counts
			}
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
