package expr

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Reach finds the greatest value of sums, differences and products at the ends of their columns, and says nothing of other expressions.
func TestReach(t *testing.T) {
	types := []column.Type{{Kind: column.Int64}, {Kind: column.Int32}, column.DecimalType(15, 2), column.DecimalType(15, 2), {Kind: column.Float64}, {Kind: column.Uint64}}
	ends := [][2]int64{{-5, 100}, {-300, 200}, {90_000, 10_494_950}, {0, 10}, {0, 0}, {0, 7}}
	names := []string{"i", "j", "price", "discount", "f", "u"}
	lookup := func(name string) (int, column.Type, error) {
		for k, n := range names {
			if n == name {
				return k, types[k], nil
			}
		}
		t.Fatalf("no column %s", name)
		return 0, column.Type{}, nil
	}
	for text, want := range map[string]int{ // -1: not known
		"i": 7, "j": 9, "-j": 9, "i * j": 15, "i - j": 9, "i + j": 9, "i * i": 14,
		"price": 24, "price * (1 - discount)": 30, "price * (1 - discount) * (1 + discount)": 37, "price + i": 24,
		"f": -1, "u": -1, "i / j": -1, "i % 7": -1, "case when i > 3 then j end": -1, "abs(i)": -1, "price + f": -1, "7": -1,
	} {
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Bind(n, text, lookup)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := e.Reach(func(col int) (least, most column.Value, ok bool) {
			return column.Value{Type: types[col], Int: ends[col][0]}, column.Value{Type: types[col], Int: ends[col][1]}, true
		})
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %d bits, want %d", text, got, want)
		}
		if _, ok := e.Reach(func(int) (least, most column.Value, ok bool) { return least, most, false }); ok {
			t.Errorf("%s: known of columns of which nothing is", text)
		}
	}
}
