package extsort

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/sortkey"
)

var scalarTypes = []column.Type{
	{Kind: column.Null},
	{Kind: column.Bool},
	{Kind: column.Int8},
	{Kind: column.Int16},
	{Kind: column.Int32},
	{Kind: column.Int64},
	{Kind: column.Uint8},
	{Kind: column.Uint16},
	{Kind: column.Uint32},
	{Kind: column.Uint64},
	{Kind: column.Float16},
	{Kind: column.Float32},
	{Kind: column.Float64},
	column.DecimalType(9, 2), column.DecimalType(38, 3), column.DecimalType(76, 0),
	{Kind: column.Date},
	{Kind: column.Time, Unit: column.Milli},
	{Kind: column.Time, Unit: column.Nano},
	column.TimestampType(column.Micro, true),
	{Kind: column.String},
	{Kind: column.Binary},
	{Kind: column.FixedBinary, Width: 3},
	{Kind: column.UUID},
}

// allTypes are the scalar types, and lists and maps of them.
func allTypes() []column.Type {
	types := slices.Clone(scalarTypes)
	for _, t := range scalarTypes {
		types = append(types, column.ListOf(t), column.MapOf(t))
	}
	return types
}

// randomVector is a flat vector of n values of type t, few of them different.
func randomVector(rng *rand.Rand, t column.Type, n int) column.Vector {
	v := column.Vector{Type: t, Len: n}
	if rng.IntN(4) > 0 {
		v.Null = make([]bool, n)
		for i := range v.Null {
			v.Null[i] = t.Kind == column.Null || rng.IntN(5) == 0
		}
	}
	if !t.IsNested() {
		for range n {
			appendRandom(rng, &v)
		}
		v.Data = slices.Grow(v.Data, column.SpanPadding)
		return v
	}
	e := &column.Vector{Type: t.Elem()}
	for i := range n {
		size := rng.IntN(4)
		if v.IsNull(i) || t.Kind == column.Null {
			size = 0
		}
		v.Span = append(v.Span, column.Span{Off: uint32(e.Len), Len: uint32(size)})
		e.Len += size
		for range size {
			appendRandom(rng, e)
			if t.Nest == column.Map {
				v.Counts = append(v.Counts, rng.Int64N(3))
			}
		}
	}
	e.Data = slices.Grow(e.Data, column.SpanPadding)
	if e.Len > 0 || rng.IntN(2) == 0 {
		v.Elem = e
	}
	return v
}

func appendRandom(rng *rand.Rand, v *column.Vector) {
	switch v.Type.Rep() {
	case column.RepFloat64:
		special := []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.Float64frombits(0xfff8000000000001)}
		x := special[rng.IntN(len(special))]
		if rng.IntN(3) == 0 {
			x = float64(rng.IntN(2000)-1000) / 8
		}
		v.Float = append(v.Float, x)
	case column.RepWide:
		x := decimal256.FromI64(rng.Int64N(5) - 2)
		for range rng.IntN(3) {
			x = x.Mul(decimal256.FromI64(1_000_000_007))
		}
		v.Wide = append(v.Wide, x)
	case column.RepBytes:
		s := randomString(rng, v.Type)
		v.Span = append(v.Span, column.Span{Off: uint32(len(v.Data)), Len: uint32(len(s))})
		v.Data = append(v.Data, s...)
	default:
		v.Int = append(v.Int, randomInt(rng, v.Type))
	}
}

func randomString(rng *rand.Rand, t column.Type) string {
	width := int(t.Width)
	if t.Kind == column.UUID {
		width = 16
	}
	if width > 0 {
		b := bytes.Repeat([]byte{'x'}, width)
		b[rng.IntN(width)] = byte(rng.IntN(256))
		return string(b)
	}
	alphabet := []string{"\x00", "\x00\x00", "\x01", "\xff", "a", "the same beginning ", "é", strings.Repeat("long", 20)}
	s := ""
	for range rng.IntN(4) {
		s += alphabet[rng.IntN(len(alphabet))]
	}
	return s
}

func randomInt(rng *rand.Rand, t column.Type) int64 {
	bits := t.Bits()
	switch t.Kind {
	case column.Null:
		return 0
	case column.Bool:
		return rng.Int64N(2)
	case column.Decimal:
		return rng.Int64N(2000) - 1000
	}
	x := int64(rng.Uint64())
	if rng.IntN(2) == 0 {
		x = rng.Int64N(20) - 10
	}
	switch unsigned := t.IsUnsigned(); {
	case bits < 64 && unsigned:
		return x & (1<<bits - 1)
	case bits < 64:
		return x << (64 - bits) >> (64 - bits)
	}
	return x
}

// coded is a vector with codes of a dictionary in place of values; now and
// then. Lists stay flat.
func coded(rng *rand.Rand, v column.Vector) column.Vector {
	if v.Len == 0 || v.Type.IsNested() || v.Type.Kind == column.Null || rng.IntN(3) > 0 {
		return v
	}
	d := v
	d.Null = nil
	out := column.Vector{Type: v.Type, Len: v.Len, Null: v.Null, Dict: &column.Dict{Values: d}}
	for i := range v.Len {
		out.Codes = append(out.Codes, int32(i))
	}
	return out
}

// lines are the rows of vectors as text.
func lines(t *testing.T, cols []column.Vector) []string {
	t.Helper()
	out := make([]string, cols[0].Len)
	for c := range cols {
		if !cols[c].Valid() {
			t.Fatalf("column %d: VECTOR-VALID", c)
		}
		arr, err := column.ToArrow(&cols[c], memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		for i := range out {
			out[i] += valueText(arr, i) + "|"
		}
		arr.Release()
	}
	return out
}

func valueText(arr arrow.Array, i int) string {
	if !arrow.IsNested(arr.DataType().ID()) {
		return arr.ValueStr(i)
	}
	one := array.NewSlice(arr, int64(i), int64(i+1)) // ValueStr of a list knows no infinity
	defer one.Release()
	return fmt.Sprint(one)
}

// comparison is the reference: how rows of a flat vector are ordered, value
// by value.
func comparison(v *column.Vector, t Term) func(a, b int32) int {
	values := valueComparison(v)
	nullSign := 1
	if t.NullsFirst {
		nullSign = -1
	}
	return func(a, b int32) int {
		switch na, nb := sortkey.IsNull(v, int(a)), sortkey.IsNull(v, int(b)); {
		case na && nb:
			return 0
		case na:
			return nullSign
		case nb:
			return -nullSign
		case t.Desc:
			return values(b, a)
		}
		return values(a, b)
	}
}

func valueComparison(v *column.Vector) func(a, b int32) int {
	switch v.Type.Rep() {
	case column.RepFloat64:
		return func(a, b int32) int { return compareFloats(v.Float[a], v.Float[b]) }
	case column.RepWide:
		return func(a, b int32) int { return v.Wide[a].Cmp(v.Wide[b]) }
	case column.RepBytes:
		return func(a, b int32) int { return bytes.Compare(v.Bytes(int(a)), v.Bytes(int(b))) }
	case column.RepList:
		return listComparison(v)
	}
	if v.Type.Kind == column.Uint64 {
		return func(a, b int32) int { return cmp.Compare(uint64(v.Int[a]), uint64(v.Int[b])) }
	}
	return func(a, b int32) int { return cmp.Compare(v.Int[a], v.Int[b]) }
}

func listComparison(v *column.Vector) func(a, b int32) int {
	if v.Elem == nil {
		return func(a, b int32) int { return 0 }
	}
	elems, counted := valueComparison(v.Elem), v.Type.Nest == column.Map
	return func(a, b int32) int {
		i, iEnd := v.Range(int(a))
		j, jEnd := v.Range(int(b))
		for ; i < iEnd && j < jEnd; i, j = i+1, j+1 {
			d := elems(int32(i), int32(j))
			if d == 0 && counted {
				d = cmp.Compare(v.Counts[i], v.Counts[j])
			}
			if d != 0 {
				return d
			}
		}
		return cmp.Compare(iEnd-i, jEnd-j)
	}
}

func compareFloats(a, b float64) int {
	switch na, nb := math.IsNaN(a), math.IsNaN(b); {
	case na && nb:
		return 0
	case na:
		return 1
	case nb:
		return -1
	}
	return cmp.Compare(a, b)
}
