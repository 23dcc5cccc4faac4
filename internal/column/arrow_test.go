package column

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// edgeValues holds, for every type, values at the ends of its range.
func edgeValues() map[Type][]Value {
	ints := func(t Type, xs ...int64) []Value {
		var out []Value
		for _, x := range xs {
			out = append(out, Value{Type: t, Int: x})
		}
		return out
	}
	floats := func(t Type, xs ...float64) []Value {
		var out []Value
		for _, x := range xs {
			out = append(out, Value{Type: t, Float: x})
		}
		return out
	}
	texts := func(t Type, xs ...string) []Value {
		var out []Value
		for _, x := range xs {
			out = append(out, Value{Type: t, Bytes: x})
		}
		return out
	}
	wides := func(t Type) []Value {
		largest := decimal256.GetMaxValue(int32(t.Precision))
		return []Value{{Type: t, Wide: largest}, {Type: t, Wide: largest.Negate()}, {Type: t}, {Type: t, Wide: decimal256.FromI64(-1)}}
	}
	out := map[Type][]Value{}
	add := func(vs []Value) { out[vs[0].Type] = vs }
	add(ints(Type{Kind: Bool}, 0, 1))
	add(ints(Type{Kind: Int8}, math.MinInt8, -1, 0, math.MaxInt8))
	add(ints(Type{Kind: Int16}, math.MinInt16, -1, 0, math.MaxInt16))
	add(ints(Type{Kind: Int32}, math.MinInt32, -1, 0, math.MaxInt32))
	add(ints(Type{Kind: Int64}, math.MinInt64, -1, 0, math.MaxInt64))
	add(ints(Type{Kind: Uint8}, 0, math.MaxUint8))
	add(ints(Type{Kind: Uint16}, 0, math.MaxUint16))
	add(ints(Type{Kind: Uint32}, 0, math.MaxUint32))
	add(ints(Type{Kind: Uint64}, 0, -1, math.MinInt64)) // the bits of 2^64-1 and 2^63
	negZero, inf := math.Copysign(0, -1), math.Inf(1)
	add(floats(Type{Kind: Float16}, 0, negZero, 65504, -65504, inf, -inf, math.NaN(), 0.5))
	add(floats(Type{Kind: Float32}, 0, negZero, math.MaxFloat32, math.SmallestNonzeroFloat32, inf, -inf, math.NaN()))
	add(floats(Type{Kind: Float64}, 0, negZero, math.MaxFloat64, math.SmallestNonzeroFloat64, inf, -inf, math.NaN(), 0.1))
	add(ints(DecimalType(9, 2), 999999999, -999999999, 0))
	add(ints(DecimalType(18, 0), 999999999999999999, -999999999999999999, 0))
	add(wides(DecimalType(19, 4)))
	add(wides(DecimalType(38, 0)))
	add(wides(DecimalType(39, 39)))
	add(wides(DecimalType(76, 10)))
	add(ints(Type{Kind: Date}, math.MinInt32, -1, 0, math.MaxInt32))
	for _, u := range []Unit{Second, Milli, Micro, Nano} {
		add(ints(Type{Kind: Time, Unit: u}, 0, 86400*u.PerSecond()-1))
		add(ints(TimestampType(u, false), math.MinInt64, -1, 0, math.MaxInt64))
		add(ints(TimestampType(u, true), math.MinInt64, -1, 0, math.MaxInt64))
	}
	add(texts(Type{Kind: String}, "", "a", "sixteen bytes ab", "seventeen bytes a", "\x00", "\xff\xfe", "ü"))
	add(texts(Type{Kind: Binary}, "", "\x00\x01", "\xff"))
	add(texts(Type{Kind: FixedBinary, Width: 3}, "abc", "\x00\x00\x00"))
	add(texts(Type{Kind: UUID}, "0123456789abcdef"))
	return out
}

// vectorOf makes a flat vector.
func vectorOf(t Type, rows []Value) *Vector {
	v := &Vector{Type: t, Len: len(rows)}
	for i, r := range rows {
		if r.Null && v.Null == nil {
			v.Null = make([]bool, len(rows))
		}
		if r.Null {
			v.Null[i] = true
		}
		switch t.Rep() {
		case RepInt64:
			v.Int = append(v.Int, r.Int)
		case RepFloat64:
			v.Float = append(v.Float, r.Float)
		case RepWide:
			v.Wide = append(v.Wide, r.Wide)
		case RepBytes:
			v.Span = append(v.Span, Span{uint32(len(v.Data)), uint32(len(r.Bytes))})
			v.Data = append(v.Data, r.Bytes...)
		}
	}
	return v
}

// codedVector makes a dictionary-coded vector of n rows.
func codedVector(t Type, values []Value, n int, null []bool, rng *rand.Rand) *Vector {
	v := &Vector{Type: t, Len: n, Null: null, Dict: &Dict{Values: *vectorOf(t, values)}}
	for range n {
		v.Codes = append(v.Codes, int32(rng.IntN(len(values))))
	}
	return v
}

func same(a, b Value) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	return a.Int == b.Int && a.Wide == b.Wide && a.Bytes == b.Bytes &&
		(math.Float64bits(a.Float) == math.Float64bits(b.Float) || math.IsNaN(a.Float) && math.IsNaN(b.Float))
}

func expectRows(t *testing.T, got, want *Vector, from, to int) {
	t.Helper()
	if got.Len != to-from {
		t.Fatalf("length: got %d, want %d", got.Len, to-from)
	}
	for i := from; i < to; i++ {
		if g, w := got.At(i-from), want.At(i); !same(g, w) {
			t.Fatalf("row %d: got %+v, want %+v", i, g, w)
		}
	}
}

// Every type survives the way to Arrow and back, flat and coded, with and
// without NULLs, at lengths around the steps of the bitmap, whole and sliced.
func TestArrowRoundTrip(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for typ, values := range edgeValues() {
		for _, n := range []int{0, 1, 7, 8, 9, 64, 131} {
			for _, withNull := range []bool{false, true} {
				for _, coded := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%d/null=%t/coded=%t", typ, n, withNull, coded), func(t *testing.T) {
						var null []bool
						if withNull {
							null = make([]bool, n)
							for i := range null {
								null[i] = rng.IntN(3) == 0
							}
						}
						v := codedVector(typ, values, n, null, rng)
						if !coded {
							rows := make([]Value, n)
							for i := range rows {
								rows[i] = v.At(i)
							}
							v = vectorOf(typ, rows)
						}
						checkRoundTrip(t, v)
					})
				}
			}
		}
	}
}

func checkRoundTrip(t *testing.T, v *Vector) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	arr, err := ToArrow(v, mem)
	if err != nil {
		t.Fatal(err)
	}
	defer arr.Release()
	if !arrow.TypeEqual(arr.DataType(), ArrowType(v.Type)) {
		t.Fatalf("type: got %s, want %s", arr.DataType(), ArrowType(v.Type))
	}
	nulls := 0
	for i := range v.Len {
		if v.IsNull(i) {
			nulls++
		}
	}
	if arr.NullN() != nulls {
		t.Fatalf("NullN: got %d, want %d", arr.NullN(), nulls)
	}
	var back Vector
	for range 2 { // the second time over used memory
		if err := FromArrow(arr, &back); err != nil {
			t.Fatal(err)
		}
		expectRows(t, &back, v, 0, v.Len)
	}
	for from := 0; from < v.Len; from += 5 {
		to := min(from+11, v.Len)
		slice := array.NewSlice(arr, int64(from), int64(to))
		err := FromArrow(slice, &back)
		slice.Release()
		if err != nil {
			t.Fatal(err)
		}
		expectRows(t, &back, v, from, to)
	}
}

func TestArrowTypeRoundTrip(t *testing.T) {
	t.Parallel()
	for typ := range edgeValues() {
		got, err := FromArrowField(ArrowField("x", typ, true))
		want := typ
		if typ.Kind == Time {
			want.UTC = false
		}
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v", typ, got, err)
		}
	}
}

func TestFromArrowRefuses(t *testing.T) {
	t.Parallel()
	var v Vector
	for _, dt := range []arrow.DataType{
		&arrow.Decimal128Type{Precision: 5, Scale: -2}, &arrow.Decimal128Type{Precision: 5, Scale: 6},
		arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.MonthInterval,
		arrow.StructOf(), arrow.LargeListOf(arrow.PrimitiveTypes.Int8), arrow.ListOf(arrow.StructOf()),
		arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int8)), arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8),
	} {
		if got, err := FromArrowType(dt); !errors.Is(err, ErrNoArrowType) || got != (Type{}) {
			t.Errorf("%s: got %s, %v", dt, got, err)
		}
	}
	b := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 5, Scale: 2})
	b.Append(decimal128.New(1, 0))
	if err := FromArrow(b.NewArray(), &v); err == nil {
		t.Error("a decimal(5,2) of 2^64 was taken")
	}
}

func TestFromArrowVariants(t *testing.T) {
	t.Parallel()
	mem := memory.DefaultAllocator
	large := array.NewLargeStringBuilder(mem)
	large.AppendValues([]string{"x", "", "long enough to be no inline string"}, []bool{true, false, true})
	date64 := array.NewDate64Builder(mem)
	date64.AppendValues([]arrow.Date64{-1, 0, millisPerDay}, nil)
	for _, c := range []struct {
		arr  arrow.Array
		want string
	}{
		{large.NewArray(), "x NULL long enough to be no inline string"},
		{date64.NewArray(), "-1 0 1"},
		{array.NewNull(2), "NULL NULL"},
		{dictionaryArray(t, []int8{1, 0, 2, 0}, []bool{true, true, true, false}, []string{"a", "b", "NULL"}), "b a NULL NULL"},
		{dictionaryArray(t, []int8{0, 0}, []bool{false, false}, nil), "NULL NULL"},
	} {
		var v Vector
		if err := FromArrow(c.arr, &v); err != nil {
			t.Fatalf("%s: %v", c.arr, err)
		}
		got := ""
		for i := range v.Len {
			x := v.At(i)
			switch {
			case x.Null:
				got += " NULL"
			case v.Type.Rep() == RepBytes:
				got += " " + x.Bytes
			default:
				got += fmt.Sprint(" ", x.Int)
			}
			if v.Dict != nil && int(v.Codes[i]) >= v.Dict.Len() {
				t.Errorf("%s: code %d outside its dictionary", c.arr, v.Codes[i])
			}
		}
		if got != " "+c.want {
			t.Errorf("got%s, want %s", got, c.want)
		}
	}
}

// dictionaryArray makes a string dictionary in which the entry "NULL" is one.
func dictionaryArray(t *testing.T, codes []int8, valid []bool, entries []string) arrow.Array {
	t.Helper()
	idx := array.NewInt8Builder(memory.DefaultAllocator)
	idx.AppendValues(codes, valid)
	dict := array.NewStringBuilder(memory.DefaultAllocator)
	for _, e := range entries {
		if e == "NULL" {
			dict.AppendNull()
		} else {
			dict.Append(e)
		}
	}
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	return array.NewDictionaryArray(typ, idx.NewArray(), dict.NewArray())
}

func TestFromArrowBadCode(t *testing.T) {
	t.Parallel()
	var v Vector
	if err := FromArrow(dictionaryArray(t, []int8{5}, []bool{true}, []string{"a"}), &v); err == nil {
		t.Error("a code outside the dictionary was taken")
	}
}

// Strings come out whole whether they may be moved as 16 bytes each or not: up
// to 16 bytes long, or longer, and where the data ends with the last one.
func TestToArrowStrings(t *testing.T) {
	t.Parallel()
	for _, longest := range []int{0, 1, 15, 16, 17, 40} {
		for _, padding := range []int{0, 15, SpanPadding} {
			v := &Vector{Type: Type{Kind: String}}
			var want []string
			var data []byte
			for i := range 100 {
				s := strings.Repeat(string(rune('a'+i%26)), i*7%(longest+1))
				if i == 50 {
					s = strings.Repeat("#", longest)
				}
				want = append(want, s)
				data = append(data, s...)
				v.Span = append(v.Span, Span{Off: uint32(len(data) - len(s)), Len: uint32(len(s))})
			}
			v.Len = len(want)
			v.Data = append(make([]byte, 0, len(data)+padding), data...)
			arr, err := ToArrow(v, memory.DefaultAllocator)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range want {
				if got := arr.ValueStr(i); got != s {
					t.Errorf("up to %d bytes, padding %d: value %d is %q, want %q", longest, padding, i, got, s)
				}
			}
			arr.Release()
		}
	}
}

func BenchmarkToArrow(b *testing.B) {
	const n = 64 << 10
	rng := rand.New(rand.NewPCG(1, 2))
	null := make([]bool, n)
	for i := range null {
		null[i] = rng.IntN(10) == 0
	}
	words := []Value{{Bytes: "id001"}, {Bytes: "id0000000042"}, {Bytes: "id77"}}
	for _, typ := range []Type{{Kind: Int64}, {Kind: Int32}, {Kind: Float64}, DecimalType(38, 0), {Kind: String}} {
		for _, withNull := range []bool{false, true} {
			for _, coded := range []bool{false, true} {
				values := words
				if typ.Rep() != RepBytes {
					values = edgeValues()[typ]
				}
				v := codedVector(typ, values, n, nil, rng)
				if !coded {
					var buf Buffer
					*v = Flatten(v, &buf)
					v.Data = append(make([]byte, 0, 256), v.Data...)
				}
				if withNull {
					v.Null = null
				}
				b.Run(fmt.Sprintf("type=%s/null=%t/coded=%t", typ, withNull, coded), func(b *testing.B) {
					for b.Loop() {
						arr, err := ToArrow(v, memory.DefaultAllocator)
						if err != nil {
							b.Fatal(err)
						}
						arr.Release()
					}
					b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvalues/s")
				})
			}
		}
	}
}
