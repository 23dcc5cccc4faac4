package parquetio

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
)

// partsRig reads the parts of a scan by several readers at once.
type partsRig struct {
	scan    *Scan
	keep    func(row int64) bool
	readers int

	mu    sync.Mutex
	few   map[*column.Dict]bool // dictionaries of column 2
	rows  map[int64]bool
	wrong error
}

func (p *partsRig) run() (err error) {
	p.few, p.rows = map[*column.Dict]bool{}, map[int64]bool{}
	readers := make([]*Reader, p.readers)
	errs := make([]error, p.readers)
	var next atomic.Int64
	var work sync.WaitGroup
	for w := range readers {
		r := p.scan.NewReader()
		readers[w] = r
		r.Where(func(b *column.Batch, sel []int32) ([]int32, error) {
			for i, id := range b.Cols[0].Int[:b.Rows] {
				if p.keep(id) {
					sel = append(sel, int32(i))
				}
			}
			return sel, nil
		}, []int{0})
		work.Go(func() {
			for u := int(next.Add(1)) - 1; u < len(p.scan.Units()) && errs[w] == nil; u = int(next.Add(1)) - 1 {
				errs[w] = p.read(r, u)
			}
		})
	}
	work.Wait()
	for _, r := range readers { // so long dictionaries stay
		r.Close()
	}
	return errors.Join(append(errs, p.wrong)...)
}

func (p *partsRig) read(r *Reader, unit int) error {
	if err := r.Open(unit); err != nil {
		return err
	}
	var b column.Batch
	for {
		ok, err := r.Next(&b)
		if !ok || err != nil {
			return err
		}
		p.mu.Lock()
		for _, i := range b.Sel {
			row := b.First + int64(i)
			p.rows[row] = true
			if got := b.Cols[1].At(int(i)).Bytes; got != prefixText(row) {
				p.wrong = fmt.Errorf("row %d is %q", row, got)
			}
			if got := b.Cols[2].At(int(i)).Bytes; got != fmt.Sprint(row%7) {
				p.wrong = fmt.Errorf("row %d is %q", row, got)
			}
			p.few[b.Cols[2].Dict] = true
		}
		p.mu.Unlock()
	}
}

// Readers of parts share the dictionaries of a row group, small ones and those that are decoded
// in parts, and give back all memory.
func TestSharedDictionaries(t *testing.T) {
	t.Chdir(t.TempDir())
	writePrefixRows(t, "f", 1)
	for name, keep := range map[string]func(row int64) bool{
		"all":    func(int64) bool { return true },
		"spread": func(row int64) bool { return row%977 == 3 },
		"first":  func(row int64) bool { return row < 9000 },
	} {
		want := 0
		for row := range int64(prefixGroup) {
			if keep(row) {
				want++
			}
		}
		for range 3 {
			l := &ledger{}
			s, err := mustOpen(t, Options{BatchRows: 500, Limits: Limits{Budget: budgettest.Lender(l.grow)}}, "f").Scan(ScanOptions{
				Columns: []int{0, 1, 2}, Skip: func(func(int) column.Bounds) bool { return false }, SkipColumns: []int{0},
			})
			if err != nil {
				t.Fatal(err)
			}
			s.Split(8, DefaultLeastPart/16)
			before := l.used
			rig := &partsRig{scan: s, keep: keep, readers: 4}
			if err := rig.run(); err != nil || len(rig.rows) != want {
				t.Fatalf("%s: %d rows, want %d; %v", name, len(rig.rows), want, err)
			}
			if len(rig.few) != 1 {
				t.Errorf("%s: %d dictionaries were decoded for %d parts", name, len(rig.few), len(s.Units()))
			}
			if l.used != before {
				t.Errorf("%s: %d bytes not given back", name, l.used-before)
			}
		}
	}
}

// If memory is refused, at whatever call, readers of parts fail with the refusal or do without,
// and all memory is given back.
func TestSharedDictionariesRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	writePrefixRows(t, "f", 1)
	refused := 0
	for fail := 1; fail < 60; fail += 3 {
		l := &ledger{}
		d := mustOpen(t, Options{BatchRows: 500, Limits: Limits{Budget: budgettest.Lender(l.grow)}}, "f")
		s, err := d.Scan(ScanOptions{Columns: []int{0, 1, 2}, Skip: func(func(int) column.Bounds) bool { return false }, SkipColumns: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		s.Split(8, DefaultLeastPart/16)
		before := l.used
		l.fail, l.forEver = l.calls+fail, true
		rig := &partsRig{scan: s, keep: func(row int64) bool { return row > prefixGroup/2 }, readers: 3}
		if err := rig.run(); err != nil {
			if refused++; !errors.Is(err, errRefused) {
				t.Fatal(err)
			}
		}
		if l.used != before || l.wrong != "" {
			t.Fatalf("call %d refused: %d bytes not given back; %s", fail, l.used-before, l.wrong)
		}
	}
	if refused == 0 {
		t.Error("no reader was refused memory")
	}
}

// If rows are filtered, and workers are twice as many as row groups, these are cut into small
// parts. They are not where workers would mostly decompress the same pages, nor for fewer
// workers.
func TestSplitFiltered(t *testing.T) {
	t.Chdir(t.TempDir())
	writePrefixRows(t, "one", 1)
	writePrefixRows(t, "two", 2)
	for _, test := range []struct {
		file     string
		filtered bool
		workers  int
		want     int
	}{
		{"one", true, 2, prefixGroup / (filteredPart / 16)}, // 1,024 rows each
		{"one", true, 1, 1},
		{"one", false, 2, 1},
		{"two", true, 4, 2 * prefixGroup / (filteredPart / 16)},
		{"two", true, 3, 2},
	} {
		o := ScanOptions{Columns: []int{0, 1}}
		if test.filtered {
			o.Skip, o.SkipColumns = func(func(int) column.Bounds) bool { return false }, []int{0}
		}
		s, err := mustOpen(t, Options{}, test.file).Scan(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Split(test.workers, DefaultLeastPart/16)
		if got := len(s.Units()); got != test.want {
			t.Errorf("%+v: %d units", test, got)
		}
	}
}
