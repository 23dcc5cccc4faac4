package parquetio

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"

	"github.com/gagg-dev/gagg/internal/column"
)

// readParts reads the units that workers take, by several readers in turns or in no order. It
// returns the rows that keep leaves, as text in their order. keep uses column 0; nil: there is no
// filter.
func readParts(s *Scan, r *rand.Rand, workers int, keep func(row int64) bool) ([]string, error) {
	readers, text := make([]*Reader, workers), make([][]string, len(s.Units()))
	for w := range readers {
		readers[w] = s.NewReader()
		defer readers[w].Close()
		if keep != nil {
			readers[w].Where(func(b *column.Batch, sel []int32) ([]int32, error) {
				for i := range b.Rows {
					if keep(b.Cols[0].Int[i]) {
						sel = append(sel, int32(i))
					}
				}
				return sel, nil
			}, []int{0})
		}
	}
	order := r.Perm(len(text))
	if workers > 1 {
		slices.Sort(order)
	}
	var b column.Batch
	for _, u := range order {
		reader := readers[r.IntN(workers)]
		if err := reader.Open(u); err != nil {
			return nil, err
		}
		for {
			ok, err := reader.Next(&b)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			text[u] = appendRows(text[u], &b, keep != nil)
		}
	}
	inFile := make([]int, len(text)) // units in the order of their rows
	for u := range inFile {
		inFile[u] = u
	}
	slices.SortFunc(inFile, func(a, b int) int { return cmp.Compare(s.Units()[a].First, s.Units()[b].First) })
	var all []string
	for _, u := range inFile {
		all = append(all, text[u]...)
	}
	return all, nil
}

// Parts of row groups, read by any reader in any order, are the rows of the row groups: with
// columns of every encoding, pages in which parts begin and end, filters, and pages that
// statistics rule out.
func TestParts(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(15, 4))
	const total = 4000
	writeRows(t, "v1", 4000, lateRows(r, total), parquet.PageBufferSize(700), parquet.Compression(&snappy.Codec{}))
	writeRows(t, "v2", 1700, lateRows(r, total), parquet.PageBufferSize(1500), parquet.DataPageVersion(2))
	for _, file := range []string{"v1", "v2"} {
		d := mustOpen(t, Options{BatchRows: 90}, file)
		o := ScanOptions{SkipColumns: []int{0}}
		for c := range d.Schema().Fields {
			o.Columns = append(o.Columns, c)
		}
		whole, err := d.Scan(o)
		if err != nil {
			t.Fatal(err)
		}
		rows, _, err := readLate(whole, nil, nil)
		if err != nil || len(rows) != total {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		for name, keep := range map[string]func(row int64) bool{
			"no filter": nil,
			"a tenth":   func(row int64) bool { return row*2654435761%10 == 3 },
			"one":       func(row int64) bool { return row == 2345 },
		} {
			o.Skip = nil
			if name == "one" {
				o.Skip = within{0, int64Value(2345), int64Value(2345)}.skips()
			}
			var want []string
			for i := range rows {
				if keep == nil || keep(int64(i)) {
					want = append(want, rows[i])
				}
			}
			for _, workers := range []int{2, 3, 16} {
				s, err := d.Scan(o)
				if err != nil {
					t.Fatal(err)
				}
				groups := len(s.Units())
				s.Split(workers, 1)
				sum, bytes := int64(0), int64(0)
				for _, u := range s.Units() {
					sum, bytes = sum+u.Rows, bytes+u.Bytes
				}
				if len(s.Units()) < min(workers, 3) || s.RowGroups() != groups || name != "one" && (sum != total || bytes == 0) {
					t.Errorf("%s: %d units of %d row groups, %d rows, for %d workers", file, len(s.Units()), groups, sum, workers)
				}
				for _, readers := range []int{1, 3} {
					got, err := readParts(s, r, readers, keep)
					if err != nil || !slices.Equal(got, want) {
						t.Fatalf("%s, %s, %d workers, %d readers: %d rows, want %d; %v", file, name, workers, readers, len(got), len(want), err)
					}
				}
			}
		}
	}
}

// Row groups are cut where workers would wait, and only into parts of some pages.
func TestSplit(t *testing.T) {
	t.Chdir(t.TempDir())
	type row struct {
		X int64 `parquet:"x,plain"`
	}
	rows := make([]row, 10_000)
	for i := range rows {
		rows[i].X = rand.Int64()
	}
	for i, test := range []struct {
		group, page, workers int
		least                int64
		want                 int
	}{
		{10_000, 800, 1, 1, 1},         // one worker takes it all
		{10_000, 800, 4, 1, 8},         // two each
		{10_000, 80_000, 4, 1, 1},      // one page
		{10_000, 800, 4, 40_000, 3},    // no smaller ones
		{10_000, 11_000, 16, 1, 2},     // three pages of each column
		{4000, 400, 4, 1, 3 + 5 + 8},   // the more, the less is left
		{10_000, 800, 4, 1_000_000, 1}, // too small for parts
	} {
		name := fmt.Sprint(i)
		writeRows(t, name, test.group, rows, parquet.PageBufferSize(test.page))
		s, err := mustOpen(t, Options{}, name).Scan(ScanOptions{Columns: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		s.Split(test.workers, test.least)
		if got := len(s.Units()); got != test.want {
			t.Errorf("%+v: %d units", test, got)
		}
	}
	s, err := mustOpen(t, Options{}, "0").Scan(ScanOptions{Repeat: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.Split(16, 1); len(s.Units()) != 1 {
		t.Errorf("%d units of nothing to read", len(s.Units()))
	}
}

// Row groups that cannot be cut come before the others, whose parts are the last units. For one
// worker nothing is reordered.
func TestSplitOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "f", 4000, lateRows(rand.New(rand.NewPCG(15, 6)), 10_000), parquet.PageBufferSize(4000))
	for workers, want := range map[int][]int64{1: {0, 4000, 8000}, 8: {8000, 0, 2000, 4000, 6000}} {
		s, err := mustOpen(t, Options{}, "f").Scan(ScanOptions{Columns: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		s.Split(workers, 1)
		var first []int64
		for _, u := range s.Units() {
			first = append(first, u.First)
		}
		if !slices.Equal(first, want) {
			t.Errorf("%d workers: units begin at rows %v, want %v", workers, first, want)
		}
	}
}

// Whether a row group is cut depends on its own dictionary, not on those of others. It is cut too
// where the headers of its pages hold texts of kilobytes.
func TestSplitTexts(t *testing.T) {
	t.Chdir(t.TempDir())
	type row struct {
		Text string `parquet:"text,dict"`
	}
	const group = 2000
	rows := make([]row, 2*group)
	for i := range rows {
		n := i % 10 // a small dictionary, and one of all values
		if i >= group {
			n = i
		}
		rows[i].Text = fmt.Sprintf("%0*d", 1500, n)
	}
	writeRows(t, "f", group, rows, parquet.PageBufferSize(400), parquet.DataPageStatistics(true))
	d := mustOpen(t, Options{}, "f")
	s, err := d.Scan(ScanOptions{Columns: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	s.Split(16, 1)
	parts := map[int]int{}
	for _, u := range s.Units() {
		parts[u.Group]++
	}
	if parts[0] == 1 || parts[1] != 1 || s.Units()[0].Group != 1 {
		t.Errorf("the row groups are cut into %v parts, the first unit is of row group %d", parts, s.Units()[0].Group)
	}
}

// A reader begins anew at a part if it was closed after the part before, left that part in the
// middle, or goes back.
func TestPartsAfterClose(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "f", 2000, lateRows(rand.New(rand.NewPCG(15, 6)), 2000), parquet.PageBufferSize(700))
	d := mustOpen(t, Options{BatchRows: 50}, "f")
	s, err := d.Scan(ScanOptions{Columns: []int{0, 7}})
	if err != nil {
		t.Fatal(err)
	}
	s.Split(2, 1)
	r := s.NewReader()
	defer r.Close()
	var b column.Batch
	read := func(u, batches int) {
		t.Helper()
		if err := r.Open(u); err != nil {
			t.Fatal(err)
		}
		next := s.Units()[u].First
		for range batches {
			ok, err := r.Next(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				if end := s.Units()[u].First + s.Units()[u].Rows; next != end {
					t.Errorf("unit %d ends at row %d, want %d", u, next, end)
				}
				return
			}
			for i := range b.Rows {
				if b.Cols[0].At(i).Int != next || b.First+int64(i) != next {
					t.Fatalf("row %d, want %d", b.Cols[0].At(i).Int, next)
				}
				next++
			}
		}
	}
	const all = 1000
	read(0, all)
	r.Close()
	read(1, all)
	read(2, 1) // and no further
	read(3, all)
	read(1, all) // back
	read(2, all)
}
