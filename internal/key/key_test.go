package key

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/arena"
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
		for _, n := range []int{0, 1, 7, 8, 9, 14, 15, 16, 17, 23, 24, 39, 40, 47, 55, 62, 63, 64, 300} {
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

// Random tuples of all types: keys are equal if and only if the values are,
// equal values have equal hashes, and decoding gives the values back, whether
// the vectors are flat, coded, or in a layout with interned strings.
func TestEncodeDecode(t *testing.T) {
	t.Parallel()
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

// tuples is random tuples of the edge cases of some columns.
type tuples struct {
	cols   []Column
	layout *Layout
	intern *Interner
	data   [][]column.Value // by column and row
	text   []string         // by row; equal for equal tuples
}

// newTuples draws tuples, and the room that keys have for strings.
func newTuples(rng *rand.Rand, cols []Column, n int) *tuples {
	cols = slices.Clone(cols)
	for c := range cols {
		cols[c].Inline = []int{0, 0, 10, 16, 23, 24, 39, 47, MostInline, 100}[rng.IntN(10)]
	}
	u := &tuples{
		cols: cols, layout: NewLayout(cols), intern: NewInterner(nil),
		data: make([][]column.Value, len(cols)), text: make([]string, n),
	}
	for c := range cols {
		edge := append(values(cols[c].Type), column.Value{Type: cols[c].Type, Null: true})
		for i := range n {
			v := edge[rng.IntN(len(edge))]
			u.data[c] = append(u.data[c], v)
			u.text[i] += canonical(v) + "|"
		}
	}
	return u
}

// encode encodes the tuples, each column coded or not by chance.
func (u *tuples) encode(rng *rand.Rand) *Encoder {
	e := NewEncoder(u.layout, u.intern)
	vs := make([]column.Vector, len(u.cols))
	for c := range u.cols {
		vs[c] = vector(u.cols[c].Type, u.data[c], rng.IntN(2) == 0)
	}
	e.Encode(vs, len(u.text))
	return e
}

// rows is the rows that a worker would make: hash, key words.
func rows(e *Encoder, a *arena.Arena) [][]uint64 {
	out := make([][]uint64, len(e.Hash))
	e.Store(a)
	for i, h := range e.Hash {
		out[i] = []uint64{h}
		for w := range e.Words {
			out[i] = append(out[i], e.Words[w][i])
		}
	}
	return out
}

// mustDecode fails unless the rows are the tuples.
func (u *tuples) mustDecode(t *testing.T, rows [][]uint64, reg *arena.Arenas) {
	t.Helper()
	d := Decoder{Layout: u.layout, Intern: u.intern, Arenas: reg, Base: 1, Stride: 1 + u.layout.Words}
	flat := slices.Concat(rows...)
	d.Begin(flat)
	for c := range u.cols {
		var v column.Vector
		d.Decode(c, flat, &v)
		if !v.Valid() {
			t.Fatalf("column %d (%s) is not valid", c, u.cols[c].Type)
		}
		for i := range rows {
			if got, want := canonical(v.At(i)), canonical(u.data[c][i]); got != want {
				t.Fatalf("column %d (%s) row %d: got %s, want %s", c, u.cols[c].Type, i, got, want)
			}
		}
	}
}

func checkTuples(t *testing.T, rng *rand.Rand, cols []Column) {
	const n = 200
	u := newTuples(rng, cols, n)
	reg := &arena.Arenas{}
	defer reg.Close()
	a, b := rows(u.encode(rng), reg.New()), rows(u.encode(rng), reg.New())
	batch := u.encode(rng)
	secret := batch.Secret()
	u.mustDecode(t, a, reg)
	d := Decoder{Layout: u.layout, Intern: u.intern, Arenas: reg, Base: 1}
	for i := range n {
		if a[i][0] != b[i][0] || a[i][0] != batch.Hash[i] {
			t.Fatalf("row %d: the hash depends on how the vectors are coded", i)
		}
		if s := u.layout.Secret(a[i], 1, reg); s != secret[i] || s != u.layout.Secret(b[i], 1, reg) {
			t.Fatalf("row %d: the seeded hash depends on how the vectors are coded", i)
		}
		for j := range n {
			equal := u.text[i] == u.text[j]
			if equal && a[i][0] != b[j][0] {
				t.Fatalf("%q has the hashes %#x and %#x", u.text[i], a[i][0], b[j][0])
			}
			if u.layout.Equal(a[i], b[j], 1, reg) != equal {
				t.Fatalf("Equal(%q, %q) is %t", u.text[i], u.text[j], !equal)
			}
			if same := batch.SameWords(i, b[j][1:]) && batch.SameLong(i, b[j][1:], reg); same != equal {
				t.Fatalf("%q of the batch and %q of a row: same is %t", u.text[i], u.text[j], same)
			}
			if c := d.Compare(a[i], b[j]); (c == 0) != equal || c != -d.Compare(b[j], a[i]) {
				t.Fatalf("Compare(%q, %q) = %d, %d the other way", u.text[i], u.text[j], c, d.Compare(b[j], a[i]))
			} else if c != compareDigits(&d, a[i], b[j]) {
				t.Fatalf("Compare(%q, %q) = %d, their digits say %d", u.text[i], u.text[j], c, -c)
			}
		}
	}
}

// compareDigits is Compare by Digit.
func compareDigits(d *Decoder, a, b []uint64) int {
	for at, end := (Digit{}), false; !end; {
		x, _, _ := d.Digit(a, at)
		y, next, last := d.Digit(b, at)
		if x != y {
			return cmp.Compare(x, y)
		}
		at, end = next, last
	}
	return 0
}

// The hash fixes the output order, so it must not change by accident: golden
// values of the hash of single keys.
func TestHashGolden(t *testing.T) {
	t.Parallel()
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
		e := NewEncoder(l, NewInterner(nil))
		e.Encode([]column.Vector{vector(typ, []column.Value{x.v}, false)}, 1)
		if e.Hash[0] != x.want {
			t.Errorf("%v %+v: hash %#x, want %#x", typ, x.v, e.Hash[0], x.want)
		}
	}
}

// A layout must not waste words: interned pairs and small integers share them.
func TestLayoutWords(t *testing.T) {
	t.Parallel()
	str, i32 := column.Type{Kind: column.String}, column.Type{Kind: column.Int32}
	for _, x := range []struct {
		cols []Column
		want int
	}{
		{nil, 0},
		{[]Column{{Type: i32}}, 1},
		{[]Column{{Type: column.Type{Kind: column.Int64}}}, 2},
		{[]Column{{Type: str}}, 2},
		{[]Column{{Type: str, Inline: 3}}, 2},
		{[]Column{{Type: str, Inline: 16}}, 3},
		{[]Column{{Type: str, Inline: 36}}, 5},
		{[]Column{{Type: str, Inline: 39}, {Type: i32}}, 6},
		{[]Column{{Type: str, Inline: 1000}}, 8},
		{[]Column{{Type: str, Intern: true, Inline: 36}}, 1},
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
