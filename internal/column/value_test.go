package column

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
)

// What is appended is what comes out, and the vector is valid at any time.
func TestAppend(t *testing.T) {
	t.Parallel()
	for _, values := range [][]Value{
		{{Int: 7}, {Int: -1}, {Null: true, Int: 5}, {Int: 3}},
		{{Float: 0.5}, {Null: true}, {Float: -2}},
		{{Wide: decimal256.FromI64(9)}, {Null: true, Wide: decimal256.FromI64(1)}},
		{{Null: true}, {Bytes: ""}, {Bytes: "ab"}, {Bytes: "a string of more bytes than the padding has"}, {Null: true, Bytes: "x"}},
	} {
		for _, typ := range []Type{{Kind: Int32}, {Kind: Float64}, DecimalType(40, 2), {Kind: String}} {
			v := Vector{Type: typ}
			for i, x := range values {
				v.Append(x)
				if v.Len != i+1 || !v.Valid() {
					t.Fatalf("%v: not valid with %d values: %+v", typ, i+1, v)
				}
			}
			for i, x := range values {
				want := Value{Type: typ, Null: x.Null}
				if !x.Null {
					want = part(x, typ)
				}
				if got := v.At(i); got != want {
					t.Errorf("%v: value %d is %+v, want %+v", typ, i, got, want)
				}
			}
		}
	}
}

// part is what of a value counts in a vector of a type.
func part(x Value, t Type) Value {
	switch t.Rep() {
	case RepInt64:
		return Value{Type: t, Int: x.Int}
	case RepFloat64:
		return Value{Type: t, Float: x.Float}
	case RepWide:
		return Value{Type: t, Wide: x.Wide}
	}
	return Value{Type: t, Bytes: x.Bytes}
}
