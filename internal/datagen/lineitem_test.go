package datagen

import (
	"bytes"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Row groups are made apart; orders have one to seven lines, equally often;
// dates are as far apart as the specification has them.
func TestLineitem(t *testing.T) {
	table := Lineitem{Rows: 28_000, Seed: 2}
	lines := table.lines(0, 28_000)
	if part := table.lines(12_345, 1000); !slices.Equal(part, lines[12_345:13_345]) {
		t.Error("rows depend on where they are made from")
	}
	counts := map[int64]int{}
	for i, l := range lines {
		counts[l.order]++
		if i > 0 && l.order < lines[i-1].order {
			t.Fatalf("order %d comes after %d", l.order, lines[i-1].order)
		}
		if int(l.number) != counts[l.order] {
			t.Fatalf("line %d of order %d is number %d", counts[l.order], l.order, l.number)
		}
		if took := l.received - l.shipped; took < 1 || took > 30 {
			t.Fatalf("it took %d days", took)
		}
	}
	sizes := [8]int{}
	for _, n := range counts {
		sizes[n]++
	}
	if sizes != [8]int{0, 1000, 1000, 1000, 1000, 1000, 1000, 1000} {
		t.Errorf("orders of so many lines: %v", sizes)
	}
}

func TestLineitemFile(t *testing.T) {
	var out bytes.Buffer
	if err := (Lineitem{Rows: 130_000, Seed: 2}).WriteParquet(&out); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got := file.NumRows(); got != 130_000 || len(file.RowGroups()) != 2 || len(file.Schema().Fields()) != 16 {
		t.Errorf("%d rows, %d row groups, %d columns", got, len(file.RowGroups()), len(file.Schema().Fields()))
	}
	if got := file.Schema().Fields()[3].Type().String(); got != "DECIMAL(15,2)" {
		t.Errorf("a price is %s", got)
	}
}
