package expr

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// What may fail is evaluated only on rows for which the other operands are true, in whatever
// order they are written; what cannot fail comes first, equality before the rest.
func TestFilterOrder(t *testing.T) {
	t.Parallel()
	const rows = 100
	var ints, ones []column.Value
	var texts []column.Value
	for i := range rows {
		text := fmt.Sprint(i)
		if i%10 != 3 {
			text = "no number"
		}
		ints = append(ints, column.Value{Type: testColumns[0].Type, Int: int64(i % 10)})
		ones = append(ones, column.Value{Type: testColumns[1].Type, Int: int64(i)})
		texts = append(texts, column.Value{Type: stringType, Bytes: text})
	}
	b := &column.Batch{Rows: rows, Cols: []column.Vector{
		0: flatVector(testColumns[0].Type, ints), 1: flatVector(testColumns[1].Type, ones), 8: flatVector(stringType, texts),
	}}
	for _, text := range []string{
		"cast(s as int64) > 50 and i = 3",
		"i = 3 and cast(s as int64) > 50",
		"j >= 0 and cast(s as int64) > 50 and j < 1000 and (i = 3)",
	} {
		e := bindText(t, text)
		got, err := e.NewEval().Filter(b, nil)
		if want := []int32{53, 63, 73, 83, 93}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
		first, rest := e.Split()
		if cols := first.Columns(); len(cols) != 1 || cols[0] != 0 || rest == nil {
			t.Errorf("%s: first come columns %v", text, cols)
		}
	}
	if _, err := bindText(t, "cast(s as int64) > 50 and i <> 3").NewEval().Filter(b, nil); err == nil {
		t.Error("a text that is no number is none on rows that are left either")
	}
}

// The two parts of a filter leave the rows that it leaves.
func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"i = 1":                                   "[0] none",
		"i > 1 and i < 5":                         "[0] none",
		"i > 1 and j = 2 and i < 5":               "[1] [0]",
		"s like '%x%' and s <> '' and d > 1":      "[3] [8]",
		"i = 1 or j = 2":                          "[0 1] none",
		"i + 1 = 2 and j is null and i in (1,2)":  "[0] [0 1]",
		"i + 1 = 2 and s not like 'a%' and not b": "[7] [0 8]",
	} {
		first, rest := bindText(t, text).Split()
		got := fmt.Sprint(first.Columns(), " none")
		if rest != nil {
			got = fmt.Sprint(first.Columns(), " ", rest.Columns())
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Operands of one column are taken together where it has a dictionary, and one after the other
// where it has none: with the same rows left, which are those for which the condition is true.
func TestFilterOneColumn(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var v column.Vector
	for _, text := range []string{
		"i between -5 and 5", "i >= -5 and s <> '' and i < 5", "i <> 0 and i < 9 and i > -9 and j > i", "day >= date '1970-01-01' and j <> 1 and day is not null",
		"s <> '' and s like '%a%' and s <> 'b'", "s < 'x' and s >= '' and d > -1e300",
	} {
		e := bindText(t, text)
		filter, value := e.NewEval(), e.NewEval()
		for range 60 {
			b := randomRows(r, 1+r.IntN(90), true).batch(r, r.IntN(2) == 0)
			if err := value.Eval(b, &v); err != nil {
				t.Fatal(err)
			}
			want := []int32{}
			for i := range b.Rows {
				if trueAt(&v, i) != 0 {
					want = append(want, int32(i))
				}
			}
			if got, err := filter.Filter(b, []int32{}); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: %v, %v, want %v", text, got, err, want)
			}
		}
	}
	if n := len(conjunctsOf(bindText(t, "i > 1 and s <> '' and i < 5 and s like 'a%' and i + 1 < 4").root.ranked())); n != 4 {
		t.Errorf("the operands of a filter are %d conjuncts, want 4: i > 1 and i < 5 are one", n)
	}
}
