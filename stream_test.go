package gagg_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
)

// pipe hides that a reader can do more than read.
func pipe(data []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(data)} }

// A Parquet file that can be read only once is put into the temp folder, within the limit, of which
// nothing stays.
func TestStream(t *testing.T) {
	whole, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the line is dead")
	for _, test := range []struct {
		name  string
		r     io.Reader
		limit int64
		want  error
		says  string
	}{
		{"whole", pipe(whole), 0, nil, ""},
		{"halves", iotest.HalfReader(pipe(whole)), int64(len(whole)), nil, ""},
		{"limit", pipe(whole), int64(len(whole) - 1), gagg.ErrBudget, "x: it comes by a pipe"},
		{"cut", pipe(whole[:len(whole)-1]), 0, gagg.ErrInput, "x: not a complete Parquet file"},
		{"empty", pipe(nil), 0, gagg.ErrInput, "x: it is empty"},
		{"text", pipe([]byte("id,name\n1,2\n")), 0, gagg.ErrInput, "x: neither Parquet nor Arrow IPC"},
		{"breaks", io.MultiReader(pipe(whole[:5000]), iotest.ErrReader(broken)), 0, gagg.ErrInput, "x: the line is dead"},
		{"breaks at once", iotest.ErrReader(broken), 0, gagg.ErrInput, "x: the line is dead"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			q := gagg.Query{From: gagg.Stream("x", test.r), Aggs: []gagg.Agg{gagg.CountAll()}}
			lines, err := answer(t, q, gagg.Options{TempDir: dir, TempLimit: test.limit})
			if test.want == nil && (err != nil || strings.Join(lines, ";") != "12000") || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("%q, %v", lines, err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), test.says) {
				t.Error(err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A run that reads its input again, here since a decimal has more digits than it declares, has what
// came by a pipe a second time.
func TestStreamReadAgain(t *testing.T) {
	data := valuesFile(t, parquet.Decimal(2, 5, parquet.Int32Type), 1000,
		parquet.Int32Value(100), parquet.Int32Value(math.MaxInt32), parquet.Int32Value(-1234567))
	q := gagg.Query{From: gagg.Stream("x", pipe(data)), Aggs: []gagg.Agg{gagg.Max("x"), gagg.Min("x")}}
	lines, err := answer(t, q, gagg.Options{TempDir: t.TempDir()})
	if err != nil || strings.Join(lines, ";") != "21474836.47|-12345.67" {
		t.Errorf("%q, %v", lines, err)
	}
}
