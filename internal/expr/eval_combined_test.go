package expr

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Texts of several columns that have dictionaries are those of each row alone, batch after batch,
// with the same dictionaries and with others, and coded unless there are too many combinations.
func TestCombinations(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	for _, text := range []string{"s || '-' || i", "upper(s) || i || 'x'", "i::varchar || s || i", "repeat(s, i % 3)", "left(s, i % 4) || right(s, 2)"} {
		e := bindText(t, text)
		v := e.NewEval()
		for batch := range 24 {
			few := 1 + batch%3*2
			if batch >= 18 {
				few = 300
			}
			texts, ints := []column.Value(nil), []column.Value(nil)
			for range 2000 {
				s := column.Value{Type: stringType, Bytes: fmt.Sprint("t", r.IntN(few)), Null: batch%3 == 1 && r.IntN(7) == 0}
				if s.Null {
					s.Bytes = ""
				}
				texts = append(texts, s)
				ints = append(ints, column.Value{Type: int64Type, Int: r.Int64N(int64(few)), Null: batch%4 == 2 && r.IntN(9) == 0})
			}
			b := &column.Batch{Rows: len(texts), Cols: []column.Vector{0: dictVector(r, int64Type, ints), 8: dictVector(r, stringType, texts)}}
			for again := range 2 { // the second time all combinations are known
				var out column.Vector
				if err := v.Eval(b, &out); err != nil {
					t.Fatal(err)
				}
				if coded := out.Dict != nil; coded != (batch < 18) || !out.Valid() {
					t.Fatalf("%s, batch %d, %d: coded %v", text, batch, again, coded)
				}
				flat := &column.Batch{Rows: b.Rows, Cols: []column.Vector{0: flatVector(int64Type, ints), 8: flatVector(stringType, texts)}}
				var want column.Vector
				if err := e.NewEval().Eval(flat, &want); err != nil {
					t.Fatal(err)
				}
				for i := range out.Len {
					if got, want := out.At(i), want.At(i); got.Null != want.Null || !got.Null && got.Bytes != want.Bytes {
						t.Fatalf("%s, batch %d, row %d: %+v, want %+v", text, batch, i, got, want)
					}
				}
			}
		}
	}
}

// Texts that would take much memory are not kept.
func TestLongCombinations(t *testing.T) {
	t.Parallel()
	v := bindText(t, "repeat(s, i % 30 * 20000)").NewEval()
	r := rand.New(rand.NewPCG(4, 5))
	coded := 0
	for range 3 {
		var texts, ints []column.Value
		for i := range int64(25) {
			texts = append(texts, column.Value{Type: stringType, Bytes: "ab"})
			ints = append(ints, column.Value{Type: int64Type, Int: i})
		}
		var out column.Vector
		b := &column.Batch{Rows: 25, Cols: []column.Vector{0: dictVector(r, int64Type, ints), 8: dictVector(r, stringType, texts)}}
		if err := v.Eval(b, &out); err != nil {
			t.Fatal(err)
		}
		if out.Dict != nil {
			coded++
		}
		for i := range out.Len {
			if n := len(out.At(i).Bytes); n != i*40000 {
				t.Fatalf("row %d: %d bytes", i, n)
			}
		}
	}
	if coded != 1 {
		t.Errorf("%d batches are coded", coded)
	}
}
