package parquetio

import "testing"

// The ends of a column are those of all its row groups together, without those where it is NULL
// throughout. A column that is NULL everywhere has none.
func TestEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	type row struct {
		Number int64   `parquet:"number"`
		Some   *int64  `parquet:"some,optional"`
		None   *int64  `parquet:"none,optional"`
		Float  float64 `parquet:"float"`
	}
	var rows []row
	for i := range 3000 {
		r := row{Number: int64(i%1000) - int64(i), Float: float64(i)}
		if n := int64(i); i < 1000 {
			r.Some = &n
		}
		rows = append(rows, r)
	}
	writeRows(t, "t.parquet", 1000, rows)
	s, err := mustOpen(t, Options{}, "t.parquet").Scan(ScanOptions{Columns: []int{0, 1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		least, most int64
		ok          bool
	}{{-2000, 0, true}, {0, 999, true}, {0, 0, false}, {0, 2999, true}} {
		least, most, ok := s.Ends(i)
		if ok != want.ok || ok && (least.Int+int64(least.Float) != want.least || most.Int+int64(most.Float) != want.most) {
			t.Errorf("column %d: %v to %v, %t; want %v", i, least, most, ok, want)
		}
	}
}
