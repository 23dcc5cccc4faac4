package expr

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// A case of texts gives each row the text of its branch, batch after batch, whichever branches
// have texts. If only one has some, nothing is copied.
func TestChoiceOfTexts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	str := func(s string) column.Value { return column.Value{Type: stringType, Bytes: s} }
	null := column.Value{Type: stringType, Null: true}
	for text, want := range map[string]struct {
		of     func(i int64, s column.Value) column.Value
		copied bool
	}{
		"case when i = 0 then s else '' end":   {of: func(i int64, s column.Value) column.Value { return pickValue(i == 0, s, str("")) }},
		"case when i = 0 then '' else s end":   {of: func(i int64, s column.Value) column.Value { return pickValue(i == 0, str(""), s) }},
		"case when i = 0 then null else s end": {of: func(i int64, s column.Value) column.Value { return pickValue(i == 0, null, s) }},
		"case when i = 0 then s when i = 1 then 'one' else s end": {
			of: func(i int64, s column.Value) column.Value { return pickValue(i == 1, str("one"), s) }, copied: true,
		},
		"case when i = 0 then '' when i = 1 then s when i = 2 then null when i = 3 then 'three' else s end": {
			of: func(i int64, s column.Value) column.Value {
				return pickValue(i == 0, str(""), pickValue(i == 2, null, pickValue(i == 3, str("three"), s)))
			}, copied: true,
		},
	} {
		v := bindText(t, text).NewEval()
		for batch := range 6 {
			ints, values := column.Vector{Type: int64Type}, []column.Value(nil)
			for k := range 200 {
				ints.Append(column.Value{Type: int64Type, Int: r.Int64N(5)})
				values = append(values, pickValue(r.IntN(6) == 0, null, str(fmt.Sprintf("%0*d", r.IntN(30), k))))
			}
			texts := flatVector(stringType, values)
			if batch%2 == 1 {
				texts = dictVector(r, stringType, values)
			}
			var out column.Vector
			if err := v.Eval(&column.Batch{Rows: 200, Cols: []column.Vector{0: ints, 8: texts}}, &out); err != nil {
				t.Fatal(err)
			}
			if !out.Valid() {
				t.Fatalf("%s: VECTOR-VALID", text)
			}
			for k, s := range values {
				if got, want := out.At(k), want.of(ints.Int[k], s); got.Null != want.Null || got.Bytes != want.Bytes {
					t.Fatalf("%s, batch %d, i = %d, s = %+v: %+v", text, batch, ints.Int[k], s, got)
				}
			}
			bytes := func(v *column.Vector) *byte {
				if v.Dict != nil {
					v = &v.Dict.Values
				}
				return &v.Data[:1][0]
			}
			if copied := bytes(&out) != bytes(&texts); copied != want.copied {
				t.Errorf("%s, batch %d: the texts were copied: %t", text, batch, copied)
			}
		}
	}
}

func pickValue(first bool, a, b column.Value) column.Value {
	if first {
		return a
	}
	return b
}
