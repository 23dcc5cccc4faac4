package parquetio

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/gagg-dev/gagg/internal/column"
)

// lateRow has a column for each way in which rows are passed over.
type lateRow struct {
	ID     int64    `parquet:"id"`
	Test   *int32   `parquet:"test,optional"`
	Bool   bool     `parquet:"bool"`
	Maybe  *bool    `parquet:"maybe,optional"`
	Delta  int64    `parquet:"delta,delta"`
	Plain  float64  `parquet:"plain,plain"`
	Split  *float64 `parquet:"split,optional,split"`
	Text   string   `parquet:"text,plain"`
	Null   *string  `parquet:"null,optional,plain"`
	Coded  string   `parquet:"coded,dict"`
	Codes  *string  `parquet:"codes,optional,dict"`
	Prefix string   `parquet:"prefix,delta"`
	Fixed  [5]byte  `parquet:"fixed"`
}

func lateRows(r *rand.Rand, n int) []lateRow {
	rows := make([]lateRow, n)
	for i := range rows {
		text := fmt.Sprintf("text %0*d", r.IntN(40), r.IntN(1000))
		some := fmt.Sprint("entry ", r.IntN(30))
		test, share, yes := r.Int32N(100), r.Float64(), r.IntN(2) == 0
		row := &rows[i]
		*row = lateRow{
			ID: int64(i), Test: &test, Bool: yes, Maybe: &yes, Delta: r.Int64(), Plain: r.Float64(), Split: &share,
			Text: text, Null: &text, Coded: some, Codes: &some, Prefix: text, Fixed: [5]byte([]byte(fmt.Sprintf("%05d", i%1e5))),
		}
		if r.IntN(5) == 0 {
			row.Test, row.Maybe, row.Split, row.Null, row.Codes = nil, nil, nil, nil, nil
		}
	}
	return rows
}

// readLate reads the rows that keep chooses by the columns early. It returns them as text, and
// how many rows the batches had.
func readLate(s *Scan, early []int, keep func(b *column.Batch, i int) bool) (text []string, rows int, err error) {
	r := s.NewReader()
	defer r.Close()
	if keep != nil {
		r.Where(func(b *column.Batch, sel []int32) ([]int32, error) {
			for i := range b.Rows {
				if keep(b, i) {
					sel = append(sel, int32(i))
				}
			}
			return sel, nil
		}, early)
	}
	var b column.Batch
	for u := range s.Units() {
		if err := r.Open(u); err != nil {
			return nil, 0, err
		}
		for {
			ok, err := r.Next(&b)
			if err != nil {
				return nil, 0, err
			}
			if !ok {
				break
			}
			rows += b.Rows
			text = appendRows(text, &b, keep != nil)
		}
	}
	return text, rows, nil
}

func appendRows(text []string, b *column.Batch, filtered bool) []string {
	sel := b.Sel
	if !filtered {
		for i := range b.Rows {
			sel = append(sel, int32(i))
		}
	}
	for _, i := range sel {
		row := fmt.Sprint(b.First + int64(i))
		for c := range b.Cols {
			row += " " + valueText(b.Cols[c].At(int(i)))
		}
		text = append(text, row)
	}
	return text
}

// A reader with a filter gives what one without gives, less the rows that the filter drops: for
// columns of every encoding on either side of the filter, pages of any size, and rows that are
// left anywhere.
func TestLate(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(7, 7))
	const total = 3000
	writeRows(t, "small.parquet", 700, lateRows(r, total), parquet.PageBufferSize(900), parquet.Compression(&snappy.Codec{}))
	writeRows(t, "large.parquet", 2000, lateRows(r, total), parquet.DataPageVersion(2), parquet.Compression(&zstd.Codec{}))
	keeps := map[string]func(row int64) bool{
		"none":    func(int64) bool { return false },
		"all":     func(int64) bool { return true },
		"one":     func(row int64) bool { return row == 1234 },
		"tenth":   func(row int64) bool { return row*2654435761%10 == 3 },
		"half":    func(row int64) bool { return row*2654435761%2 == 1 },
		"ranges":  func(row int64) bool { return row/250%3 == 1 },
		"the end": func(row int64) bool { return row >= total-1 },
	}
	for _, file := range []string{"small.parquet", "large.parquet"} {
		for _, batch := range []int{64, 1000} {
			d := mustOpen(t, Options{BatchRows: batch}, file)
			var all []int
			for c := range d.Schema().Fields {
				all = append(all, c)
			}
			s, err := d.Scan(ScanOptions{Columns: all})
			if err != nil {
				t.Fatal(err)
			}
			whole, _, err := readLate(s, nil, nil)
			if err != nil || len(whole) != total {
				t.Fatalf("%d rows, %v", len(whole), err)
			}
			for name, keep := range keeps {
				var want []string
				for i := range whole {
					if keep(int64(i)) {
						want = append(want, whole[i])
					}
				}
				for _, early := range [][]int{{0}, {1, 8, 10}, {3, 5, 12}, {0, 2, 4, 6, 7, 9, 11}, all, nil} {
					got, rows, err := readLate(s, early, func(b *column.Batch, i int) bool { return keep(b.First + int64(i)) })
					if err != nil || rows != total || fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s, batches of %d, %s left, filter on %v: %d of %d rows, %d in all, %v", file, batch, name, early, len(got), len(want), rows, err)
					}
				}
			}
		}
	}
}

// countingReader counts the bytes that are read.
type countingReader struct {
	io.ReaderAt
	bytes atomic.Int64
}

func (c *countingReader) ReadAt(p []byte, at int64) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.ReaderAt.ReadAt(p, at)
}

// In a row group of which no row is left nothing is read but the columns of the filter, and
// pages without a row that is left are not even taken for what they claim to be.
func TestLateReadsLess(t *testing.T) {
	t.Chdir(t.TempDir())
	type row struct {
		Test int32  `parquet:"test,plain"`
		Text string `parquet:"text,plain"`
	}
	rows := make([]row, 40_000)
	for i := range rows {
		rows[i] = row{int32(i), fmt.Sprintf("%0100d", i)}
	}
	writeRows(t, "f.parquet", 20_000, rows, parquet.PageBufferSize(400_000))
	data, err := os.ReadFile("f.parquet")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("f.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in := &countingReader{ReaderAt: file}
	d, err := Open(t.Context(), []Input{{Path: "f", Reader: in, Size: int64(len(data))}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := d.Scan(ScanOptions{Columns: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		left  func(i int32) bool
		bytes int64
	}{
		"none":           {func(int32) bool { return false }, 40_000*4 + 100_000},
		"the last":       {func(i int32) bool { return i == 39_999 }, 40_000*4 + 20_000*104/2 + 300_000},
		"of the 1st one": {func(i int32) bool { return i < 20_000 }, 40_000*4 + 20_000*105 + 200_000},
	} {
		in.bytes.Store(0)
		_, rows, err := readLate(s, []int{0}, func(b *column.Batch, i int) bool { return test.left(int32(b.Cols[0].Int[i])) })
		if got := in.bytes.Load(); err != nil || rows != 40_000 || got > test.bytes {
			t.Errorf("%s: %d bytes read, at most %d wanted; %d rows, %v", name, got, test.bytes, rows, err)
		}
	}
}
