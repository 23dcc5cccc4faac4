package key

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// values is the edge cases of a type; equal ones (NaN, zeros) are listed
// after each other, the canonical one first.
func values(t column.Type) []column.Value {
	var out []column.Value
	add := func(v column.Value) { v.Type = t; out = append(out, v) }
	switch t.Rep() {
	case column.RepInt64:
		n := t.Bits()
		lo, hi := int64(-1)<<(n-1), int64(1)<<(n-1)-1
		if t.IsUnsigned() || t.Kind == column.Bool {
			lo, hi = 0, int64(1)<<n-1
		}
		for _, x := range []int64{0, 1, lo, hi, hi / 2} {
			add(column.Value{Int: x})
		}
	case column.RepFloat64:
		for _, x := range []float64{0, math.Copysign(0, -1), 1.5, -1.5, math.Inf(1), math.Inf(-1), math.NaN(), -math.NaN(), math.MaxFloat32} {
			add(column.Value{Float: x})
		}
	case column.RepWide:
		for _, x := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
			add(column.Value{Wide: decimal256.FromI64(x)})
		}
	case column.RepBytes:
		if t.Kind == column.UUID {
			for i := range 4 {
				add(column.Value{Bytes: strings.Repeat(string(rune('a'+i)), 16)})
			}
			break
		}
		for _, n := range []int{0, 1, 7, 8, 9, 14, 15, 16, 17, 300} {
			add(column.Value{Bytes: strings.Repeat("x", n)})
			if n > 0 {
				add(column.Value{Bytes: strings.Repeat("x", n-1) + "\x00"})
			}
		}
	}
	return out
}

func vector(t column.Type, rows []column.Value, dict bool) column.Vector {
	v := column.Vector{Type: t, Len: len(rows)}
	flat := column.Vector{Type: t}
	for i, r := range rows {
		if r.Null && v.Null == nil {
			v.Null = make([]bool, len(rows))
		}
		if r.Null {
			v.Null[i] = true
		}
		flat.Len++
		flat.Int = append(flat.Int, r.Int)
		flat.Float = append(flat.Float, r.Float)
		flat.Wide = append(flat.Wide, r.Wide)
		if r.Null && t.Kind == column.UUID {
			r.Bytes = strings.Repeat("\x00", 16)
		}
		flat.Span = append(flat.Span, column.Span{Off: uint32(len(flat.Data)), Len: uint32(len(r.Bytes))})
		flat.Data = append(flat.Data, r.Bytes...)
		v.Codes = append(v.Codes, int32(i))
	}
	flat.Data = append(flat.Data, make([]byte, column.SpanPadding)...)[:len(flat.Data)]
	if dict {
		v.Dict = &column.Dict{Values: flat}
		return v
	}
	flat.Null = v.Null
	return flat
}

var types = []column.Type{
	{Kind: column.Bool},
	{Kind: column.Int8},
	{Kind: column.Int16},
	{Kind: column.Int32},
	{Kind: column.Int64},
	{Kind: column.Uint8},
	{Kind: column.Uint32},
	{Kind: column.Uint64},
	{Kind: column.Date},
	{Kind: column.Float32},
	{Kind: column.Float64},
	column.DecimalType(18, 2), column.DecimalType(38, 2),
	column.TimestampType(column.Micro, true),
	{Kind: column.String},
	{Kind: column.UUID},
}

// canonical is the text of a value; equal keys have equal texts.
func canonical(v column.Value) string {
	switch {
	case v.Null:
		return "NULL"
	case v.Type.IsFloat():
		return fmt.Sprint(v.Float + 0) // -0 + 0 is 0
	case v.Type.Rep() == column.RepWide:
		return v.Wide.ToString(0)
	case v.Type.Rep() == column.RepBytes:
		return "'" + v.Bytes + "'"
	}
	return fmt.Sprint(v.Int)
}

// Random tuples of all types: equal words if and only if equal values, equal
// hashes for equal values, and decoding gives the values back, whether the
// vectors are flat, coded, or in a layout with interned strings.
func TestEncodeDecode(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var cols []Column
		for range 1 + rng.IntN(5) {
			typ := types[rng.IntN(len(types))]
			cols = append(cols, Column{Type: typ, Intern: rng.IntN(2) == 0})
		}
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { checkTuples(t, rng, cols) })
	}
}

func checkTuples(t *testing.T, rng *rand.Rand, cols []Column) {
	const n = 200
	l, in := NewLayout(cols), NewInterner()
	data := make([][]column.Value, len(cols))
	for c := range cols {
		edge := append(values(cols[c].Type), column.Value{Type: cols[c].Type, Null: true})
		for range n {
			data[c] = append(data[c], edge[rng.IntN(len(edge))])
		}
	}
	encode := func() *Encoder {
		e := NewEncoder(l, in)
		vs := make([]column.Vector, len(cols))
		for c := range cols {
			vs[c] = vector(cols[c].Type, data[c], rng.IntN(2) == 0)
		}
		e.Encode(vs, n)
		return e
	}
	a, b := encode(), encode()
	rows := make([][]uint64, n)
	seen := map[string]int{}
	for i := range n {
		rows[i] = []uint64{a.Hash[i]}
		text := ""
		for w := range l.Words {
			if a.Words[w][i] != b.Words[w][i] {
				t.Fatalf("row %d word %d depends on how the vectors are coded", i, w)
			}
			rows[i] = append(rows[i], a.Words[w][i])
		}
		for c := range cols {
			text += canonical(data[c][i]) + "|"
		}
		words := fmt.Sprint(rows[i][1:])
		if j, ok := seen[text]; ok && fmt.Sprint(rows[j]) != fmt.Sprint(rows[i]) {
			t.Fatalf("equal keys %q: %v and %v", text, rows[j], rows[i])
		}
		if j, ok := seen[words]; ok && j >= 0 {
			if prev := textOf(data, j); prev != text {
				t.Fatalf("different keys %q and %q have the words %s", prev, text, words)
			}
		}
		seen[text], seen[words] = i, i
		if a.Hash[i] != b.Hash[i] {
			t.Fatalf("row %d: the hash depends on how the vectors are coded", i)
		}
	}
	d := Decoder{Layout: l, Intern: in, Base: 1}
	d.Begin(rows)
	for c := range cols {
		var v column.Vector
		d.Decode(c, rows, &v)
		for i := range n {
			got := v.At(i)
			if canonical(got) != canonical(data[c][i]) {
				t.Fatalf("column %d (%s) row %d: got %s, want %s", c, cols[c].Type, i, canonical(got), canonical(data[c][i]))
			}
		}
	}
	for range 500 {
		i, j := rng.IntN(n), rng.IntN(n)
		if equal := textOf(data, i) == textOf(data, j); equal != (d.Compare(rows[i], rows[j]) == 0) {
			t.Fatalf("Compare(%q, %q) = %d", textOf(data, i), textOf(data, j), d.Compare(rows[i], rows[j]))
		}
		if d.Compare(rows[i], rows[j]) != -d.Compare(rows[j], rows[i]) {
			t.Fatalf("Compare is not antisymmetric for %q, %q", textOf(data, i), textOf(data, j))
		}
	}
}

func textOf(data [][]column.Value, i int) (text string) {
	for c := range data {
		text += canonical(data[c][i]) + "|"
	}
	return text
}

// The hash fixes the output order, so it must not change by accident: golden
// values of the hash of single keys.
func TestHashGolden(t *testing.T) {
	for _, x := range []struct {
		typ  column.Kind
		v    column.Value
		want uint64
	}{
		{column.Int64, column.Value{Int: 42}, 0x386afcf6dde9d8b4},
		{column.Int32, column.Value{Int: -1}, 0x6291ee4c394923fc},
		{column.String, column.Value{Bytes: "id001"}, 0x69c8a2d05bba85af},
		{column.String, column.Value{Bytes: "a string of more than fifteen bytes"}, 0x84aee8baf5e1c847},
		{column.Float64, column.Value{Float: math.NaN()}, 0xa801c0c910f00b50},
	} {
		typ := column.Type{Kind: x.typ}
		l := NewLayout([]Column{{Type: typ}})
		e := NewEncoder(l, NewInterner())
		e.Encode([]column.Vector{vector(typ, []column.Value{x.v}, false)}, 1)
		if e.Hash[0] != x.want {
			t.Errorf("%v %+v: hash %#x, want %#x", typ, x.v, e.Hash[0], x.want)
		}
	}
}

// A layout must not waste words: interned pairs and small integers share them.
func TestLayoutWords(t *testing.T) {
	str, i32 := column.Type{Kind: column.String}, column.Type{Kind: column.Int32}
	for _, x := range []struct {
		cols []Column
		want int
	}{
		{nil, 0},
		{[]Column{{Type: i32}}, 1},
		{[]Column{{Type: column.Type{Kind: column.Int64}}}, 2},
		{[]Column{{Type: str}}, 2},
		{[]Column{{Type: str, Intern: true}}, 1},
		{[]Column{{Type: str, Intern: true}, {Type: str, Intern: true}}, 1},
		{[]Column{{Type: column.Type{Kind: column.Bool}}, {Type: i32}, {Type: column.Type{Kind: column.Int8}}}, 1},
		{[]Column{{Type: str, Intern: true}, {Type: str, Intern: true}, {Type: str}, {Type: i32}, {Type: i32}, {Type: i32}}, 5},
	} {
		if got := NewLayout(x.cols).Words; got != x.want {
			t.Errorf("%v: %d words, want %d", x.cols, got, x.want)
		}
	}
}
