package expr

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Reach finds the greatest value of sums, differences and products at the ends of their columns,
// and says nothing of other expressions.
func TestReach(t *testing.T) {
	t.Parallel()
	types := []column.Type{{Kind: column.Int64}, {Kind: column.Int32}, column.DecimalType(15, 2), column.DecimalType(15, 2), {Kind: column.Float64}, {Kind: column.Uint64}, {Kind: column.Float64}, {Kind: column.Float64}}
	ends := [][2]int64{{-5, 100}, {-300, 200}, {90_000, 10_494_950}, {0, 10}, {0, 0}, {0, 7}, {0, 0}, {0, 0}}
	names := []string{"i", "j", "price", "discount", "f", "u", "below", "both"}
	lookup := func(name string) (int, column.Type, error) {
		for k, n := range names {
			if n == name {
				return k, types[k], nil
			}
		}
		t.Fatalf("no column %s", name)
		return 0, column.Type{}, nil
	}
	floats := [8][2]float64{4: {.25, 8}, 6: {-3, -2}, 7: {-3, 2}}
	reached := map[string][2]float64{"f": {.25, 8}, "below": {2, 3}, "both": {0, 3}, "f * below": {0, 24}, "f - below": {0, 11}, "f + both": {0, 10}, "price + f": {0, 8}} // of floats alone
	for text, want := range map[string]column.Range{                                                                                                                       // none: not known
		"i": {Most: 100, Signed: true}, "j": {Most: 299, Signed: true}, "-j": {Most: 300, Signed: true}, "i * j": {Most: 29_999, Signed: true},
		"i - j": {Most: 400, Signed: true}, "i + j": {Most: 304, Signed: true}, "i * i": {Most: 10_000}, "i - i": {Most: 1}, "i + 5": {Most: 105},
		"price": {Most: 10_494_950}, "price * (1 - discount)": {Most: 1_049_495_000}, "price * (1 - discount) * (1 + discount)": {Most: 104_949_500_000},
		"price - price": {Most: 1}, "-price": {Most: 10_494_949, Signed: true}, "price + i": {Most: 10_504_950},
		"f": {}, "below": {}, "both": {}, "f * below": {}, "f - below": {}, "f + both": {}, "u": {}, "i / j": {}, "i % 7": {}, "case when i > 3 then j end": {}, "abs(i)": {}, "price + f": {}, "7": {},
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
		if got != want || ok != want.Known() {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
		if least, most, ok := e.ReachFloat(func(col int) (least, most column.Value, ok bool) {
			return column.Value{Type: types[col], Float: floats[col][0]}, column.Value{Type: types[col], Float: floats[col][1]}, true
		}); [2]float64{least, most} != reached[text] || ok != (reached[text] != [2]float64{}) {
			t.Errorf("%s: of sizes %v to %v, want %v", text, least, most, reached[text])
		}
		if _, ok := e.Reach(func(int) (least, most column.Value, ok bool) { return least, most, false }); ok {
			t.Errorf("%s: known of columns of which nothing is", text)
		}
	}
}
