package gagg_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
)

// shop is three regions of the orders.
var shop = gagg.Query{
	From: gagg.Files(orders), By: []string{"region"}, Aggs: exprs("count(*) as n", "max(discount) filter (where region = 'Asia') as d"),
	OrderBy: []string{"region"}, Limit: 3,
}

// result is the rows of a query.
func result(t *testing.T, q gagg.Query) *gagg.Rows {
	t.Helper()
	rows, err := gagg.Run(t.Context(), q, gagg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rows.Release)
	return rows
}

// Each format is written as the command does, to a writer and to a file; what can be read again is
// the same.
func TestWrite(t *testing.T) {
	for format, want := range map[gagg.Format]string{
		"":                    "region,n,d\nAfrica,2366,\nAmericas,2383,\nAsia,2423,0.2\n",
		gagg.FormatCSV:        "region,n,d\nAfrica,2366,\nAmericas,2383,\nAsia,2423,0.2\n",
		gagg.FormatTSV:        "region\tn\td\nAfrica\t2366\t\nAmericas\t2383\t\nAsia\t2423\t0.2\n",
		gagg.FormatNDJSON:     `{"region":"Africa","n":2366,"d":null}` + "\n" + `{"region":"Americas","n":2383,"d":null}` + "\n" + `{"region":"Asia","n":2423,"d":0.2}` + "\n",
		gagg.FormatJSON:       "[\n" + `{"region":"Africa","n":2366,"d":null},` + "\n" + `{"region":"Americas","n":2383,"d":null},` + "\n" + `{"region":"Asia","n":2423,"d":0.2}` + "\n]\n",
		gagg.FormatMarkdown:   "| region | n | d |",
		gagg.FormatTable:      "Americas",
		gagg.FormatParquet:    "PAR1",
		gagg.FormatArrow:      "\xff\xff\xff\xff",
		gagg.Format("pickle"): "",
	} {
		var b bytes.Buffer
		err := gagg.Write(t.Context(), &b, result(t, shop), gagg.Output{Format: format})
		if want == "" {
			if !errors.Is(err, gagg.ErrUsage) || b.Len() > 0 {
				t.Errorf("%s: %q, %v", format, b.String(), err)
			}
			continue
		}
		exact := !slices.Contains([]gagg.Format{gagg.FormatMarkdown, gagg.FormatTable, gagg.FormatParquet, gagg.FormatArrow}, format)
		if err != nil || exact && b.String() != want || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %q, want %q; %v", format, b.String(), want, err)
		}
	}
	lines := mustAnswer(t, shop, gagg.Options{})
	dir := t.TempDir()
	for _, name := range []string{"x.parquet", "x.arrow"} {
		path := filepath.Join(dir, name)
		if err := gagg.WriteFile(t.Context(), path, result(t, shop), gagg.Output{}); err != nil {
			t.Fatal(err)
		}
		again := gagg.Query{From: gagg.Files(path), By: []string{"region", "n", "d"}, OrderBy: []string{"1"}}
		if got := mustAnswer(t, again, gagg.Options{}); !slices.Equal(got, lines) {
			t.Errorf("%s: %q, want %q", name, got, lines)
		}
	}
	path := filepath.Join(dir, "x.csv.gz")
	if err := gagg.WriteFile(t.Context(), path, result(t, shop), gagg.Output{Null: "NA"}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != "region,n,d\nAfrica,2366,NA\nAmericas,2383,NA\nAsia,2423,0.2\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// failingWriter fails after some bytes.
type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, w.err
	}
	return len(p), nil
}

// failingRows is one record, and then an error.
type failingRows struct {
	array.RecordReader
	rec  arrow.Record
	left int
	err  error
}

func (r *failingRows) Schema() *arrow.Schema { return r.rec.Schema() }
func (r *failingRows) Next() bool            { r.left--; return r.left >= 0 }
func (r *failingRows) Record() arrow.Record  { return r.rec }

func (r *failingRows) Err() error {
	if r.left < 0 {
		return r.err
	}
	return nil
}

// What goes wrong is told as it is, and a file stays what it was.
func TestWriteFails(t *testing.T) {
	full, broken := errors.New("no room"), errors.New("the line is dead")
	rec := made(memory.NewGoAllocator(), 0, 1000)
	defer rec.Release()
	dir := t.TempDir()
	for _, format := range []gagg.Format{gagg.FormatCSV, gagg.FormatJSON, gagg.FormatParquet, gagg.FormatArrow} {
		if err := gagg.Write(t.Context(), &failingWriter{2, full}, &failingRows{rec: rec, left: 3}, gagg.Output{Format: format}); !errors.Is(err, full) {
			t.Errorf("%s: %v", format, err)
		}
		path := filepath.Join(dir, "x."+string(format))
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := gagg.WriteFile(t.Context(), path, &failingRows{rec: rec, left: 2, err: broken}, gagg.Output{}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", format, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := gagg.WriteFile(ctx, path, &failingRows{rec: rec, left: math.MaxInt}, gagg.Output{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", format, err)
		}
		if text, err := os.ReadFile(path); string(text) != "before" || err != nil {
			t.Errorf("%s: %q, %v", format, text, err)
		}
	}
	if err := gagg.WriteFile(t.Context(), filepath.Join(dir, "x.pickle"), &failingRows{rec: rec}, gagg.Output{}); !errors.Is(err, gagg.ErrUsage) {
		t.Error(err)
	}
	if err := gagg.Write(t.Context(), io.Discard, &failingRows{rec: rec, left: 1}, gagg.Output{Compression: "lzma"}); !errors.Is(err, gagg.ErrUsage) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 {
		t.Errorf("left behind: %v", left)
	}
}
