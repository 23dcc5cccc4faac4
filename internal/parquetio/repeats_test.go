package parquetio

import (
	"fmt"
	"math"
	"testing"
)

// What two dictionaries have in common is estimated to a few hundredths, from a sample where they
// are large; it cannot be told where there are none.
func TestDictRepeats(t *testing.T) {
	t.Chdir(t.TempDir())
	type row struct {
		Same  string `parquet:"same,dict"`
		Some  string `parquet:"some,dict"`
		Own   string `parquet:"own,dict"`
		Plain string `parquet:"plain,plain"`
		Int   int64  `parquet:"int,dict"`
	}
	const groupRows = 20_000
	for _, groups := range []int{1, 2, 5} {
		var rows []row
		for i := range groups * groupRows {
			n := i % groupRows
			some := n
			if n%10 < 7 { // three in ten are in all dictionaries
				some = i + groups*groupRows
			}
			text := fmt.Sprint("value ", n)
			rows = append(rows, row{text, fmt.Sprint("value ", some), fmt.Sprint("value ", i), text, int64(n)})
		}
		name := fmt.Sprintf("%d.parquet", groups)
		writeRows(t, name, groupRows, rows)
		s, err := mustOpen(t, Options{}, name).Scan(ScanOptions{Columns: []int{0, 1, 2, 3, 4}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{1, .3, 0} {
			if groups == 1 {
				want = 1
			}
			if got, ok := s.DictRepeats(i); !ok || math.Abs(got-want) > .05 {
				t.Errorf("%d row groups, column %d: %.2f instead of %.2f, %v", groups, i, got, want, ok)
			}
		}
		for _, i := range []int{3, 4} {
			if _, ok := s.DictRepeats(i); ok && groups > 1 {
				t.Errorf("%d row groups, column %d: told", groups, i)
			}
		}
	}
}
