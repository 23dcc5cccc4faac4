package column

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// listsOf makes a vector of n lists or maps of up to four elements, every
// fifth NULL. The elements of NULL rows and some between lists belong to no
// row.
func listsOf(t Type, values []Value, n int, rng *rand.Rand) *Vector {
	v := &Vector{Type: t, Len: n, Null: make([]bool, n)}
	var elems []Value
	for i := range n {
		length := rng.IntN(5)
		v.Null[i] = i%5 == 4
		v.Span = append(v.Span, Span{Off: uint32(len(elems)), Len: uint32(length)})
		for range length + rng.IntN(2) {
			elems = append(elems, values[rng.IntN(len(values))])
			if t.Nest == Map {
				v.Counts = append(v.Counts, rng.Int64())
			}
		}
	}
	v.Elem = vectorOf(t.Elem(), elems)
	v.Elem.pad()
	return v
}

// expectLists compares row i of got with row rows[i] of want, element by
// element.
func expectLists(t *testing.T, got, want *Vector, rows []int32) {
	t.Helper()
	if got.Len != len(rows) || got.Type != want.Type || !got.Valid() {
		t.Fatalf("%d rows of %s, valid: %t; want %d of %s", got.Len, got.Type, got.Valid(), len(rows), want.Type)
	}
	for i, r := range rows {
		from, to := got.Range(i)
		wfrom, wto := want.Range(int(r))
		if got.IsNull(i) != want.IsNull(int(r)) || to-from != wto-wfrom {
			t.Fatalf("row %d: %d elements, NULL: %t; want %d, %t", i, to-from, got.IsNull(i), wto-wfrom, want.IsNull(int(r)))
		}
		for j := range to - from {
			if g, w := got.Elem.At(from+j), want.Elem.At(wfrom+j); !same(g, w) {
				t.Fatalf("row %d, element %d: %+v, want %+v", i, j, g, w)
			}
			if want.Type.Nest == Map && got.Counts[from+j] != want.Counts[wfrom+j] {
				t.Fatalf("row %d, element %d: count %d, want %d", i, j, got.Counts[from+j], want.Counts[wfrom+j])
			}
		}
	}
}

func allRows(from, to int) (rows []int32) {
	for i := from; i < to; i++ {
		rows = append(rows, int32(i))
	}
	return rows
}

// Lists and maps of every type survive what the package does with vectors.
func TestLists(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for elem, values := range edgeValues() {
		for _, typ := range []Type{ListOf(elem), MapOf(elem)} {
			for _, n := range []int{0, 1, 5, 64, 131} {
				t.Run(fmt.Sprintf("%s/%d", typ, n), func(t *testing.T) {
					v := listsOf(typ, values, n, rng)
					expectLists(t, v, v, allRows(0, n))

					rows := make([]int32, 0, n)
					for range n {
						rows = append(rows, int32(rng.IntN(n)))
					}
					gathered := Gather(v, rows, &Buffer{})
					expectLists(t, &gathered, v, rows)
					double := Concat([]Vector{gathered, *v})
					expectLists(t, &double, v, append(rows, allRows(0, n)...))
					checkListArrow(t, &gathered, v, rows)
					checkListArrow(t, v, v, allRows(0, n))
					for i := range n {
						if x := v.At(i); x.Null != v.IsNull(i) {
							t.Fatalf("row %d: %+v", i, x)
						} else if !x.Null {
							expectLists(t, x.List, v, allRows(i, i+1))
						}
					}
				})
			}
		}
	}
}

// checkListArrow takes v, which holds some rows of want, to Arrow and back,
// whole and sliced.
func checkListArrow(t *testing.T, v, want *Vector, rows []int32) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	arr, err := ToArrow(v, mem)
	if err != nil {
		t.Fatal(err)
	}
	defer arr.Release()
	if !arrow.TypeEqual(arr.DataType(), ArrowType(v.Type), arrow.CheckMetadata()) {
		t.Fatalf("type: got %s, want %s", arr.DataType(), ArrowType(v.Type))
	}
	var back Vector
	for _, cut := range [][2]int{{0, v.Len}, {0, v.Len}, {v.Len / 3, v.Len}, {v.Len / 2, v.Len / 2}, {0, v.Len / 2}} {
		part := array.NewSlice(arr, int64(cut[0]), int64(cut[1]))
		err := FromArrow(part, &back)
		part.Release()
		if err != nil {
			t.Fatal(err)
		}
		if back.Type.Elem().Kind == Time {
			back.Type.UTC, back.Elem.Type.UTC = want.Type.UTC, want.Type.UTC
		}
		expectLists(t, &back, want, rows[cut[0]:cut[1]])
	}
}

func TestListOfDict(t *testing.T) {
	t.Parallel()
	v := listsOf(ListOf(Type{Kind: String}), edgeValues()[Type{Kind: String}], 4, rand.New(rand.NewPCG(1, 2)))
	v.Null = nil
	coded := &Vector{Type: v.Type, Len: 3, Codes: []int32{3, 0, 3}, Dict: &Dict{Values: *v}}
	flat := Flatten(coded, &Buffer{})
	expectLists(t, &flat, v, coded.Codes)
	checkListArrow(t, coded, v, coded.Codes)
}

// A column without any value may have no elements at all.
func TestListsOfNothing(t *testing.T) {
	t.Parallel()
	for _, typ := range []Type{ListOf(Type{Kind: Null}), ListOf(Type{Kind: String}), MapOf(Type{Kind: Int64})} {
		v := &Vector{Type: typ, Len: 2, Null: []bool{true, true}, Span: make([]Span, 2)}
		expectLists(t, v, v, allRows(0, 2))
		all := Concat([]Vector{*v, *v})
		expectLists(t, &all, v, []int32{0, 1, 0, 1})
		checkListArrow(t, v, v, allRows(0, 2))
	}
}

func TestNestedTypes(t *testing.T) {
	t.Parallel()
	str, dec := Type{Kind: String}, DecimalType(10, 2)
	for typ, want := range map[Type]string{
		ListOf(Type{Kind: Int64}): "int64[]", ListOf(dec): "decimal(10,2)[]",
		MapOf(str): "map(string, int64)", ListOf(TimestampType(Micro, true)): "timestamp[us, UTC][]",
	} {
		if typ.String() != want || typ.Rep() != RepList || typ.Elem().IsNested() || typ == typ.Elem() || typ.Bits() != 0 ||
			typ.IsNumeric() || typ.IsInteger() || typ.IsSigned() || typ.IsUnsigned() || typ.IsFloat() {
			t.Errorf("%s: %+v", want, typ)
		}
	}
	if ListOf(str) == MapOf(str) || ListOf(str).Elem() != str || MapOf(dec).Elem() != dec {
		t.Error("a type is not told from another")
	}
}

func TestFromArrowRefusesNullElements(t *testing.T) {
	t.Parallel()
	list := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8)
	list.Append(true)
	list.ValueBuilder().AppendNull()
	m := array.NewMapBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64, false)
	m.Append(true)
	m.KeyBuilder().(*array.StringBuilder).Append("a")
	m.ItemBuilder().AppendNull()
	for _, b := range []array.Builder{list, m} {
		var v Vector
		if err := FromArrow(b.NewArray(), &v); err == nil || !strings.Contains(err.Error(), "NULL") {
			t.Errorf("%s: %v", b.Type(), err)
		}
	}
}

// What passes the 32-bit offsets of Arrow is refused, not wrapped: here one
// long text, and one long list, held many times.
func TestToArrowTooLarge(t *testing.T) {
	t.Parallel()
	long := Vector{Type: Type{Kind: String}, Len: 1, Span: []Span{{Len: 1 << 28}}, Data: make([]byte, 1<<28, 1<<28+SpanPadding)}
	same := make([]Span, 16)
	for i := range same {
		same[i] = long.Span[0]
	}
	many := Vector{Type: long.Type, Len: 16, Span: same, Data: long.Data}
	if _, err := ToArrow(&many, memory.DefaultAllocator); !errors.Is(err, ErrTooLarge) {
		t.Errorf("texts: %v", err)
	}
	lists := Vector{Type: ListOf(long.Type), Len: 1, Span: []Span{{Len: 16}}, Elem: &many}
	if _, err := ToArrow(&lists, memory.DefaultAllocator); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a list of texts: %v", err)
	}
	ints := Vector{Type: ListOf(Type{Kind: Int8}), Elem: &Vector{Type: Type{Kind: Int8}, Len: 1 << 12, Int: make([]int64, 1<<12)}}
	for ints.Len = range 1 << 19 {
		ints.Span = append(ints.Span, Span{Len: 1 << 12})
	}
	ints.Len++
	if _, err := ToArrow(&ints, memory.DefaultAllocator); !errors.Is(err, ErrTooLarge) {
		t.Errorf("long lists: %v", err)
	}
}

func TestListsValid(t *testing.T) {
	t.Parallel()
	ok := func() *Vector {
		return listsOf(MapOf(Type{Kind: Int64}), edgeValues()[Type{Kind: Int64}], 6, rand.New(rand.NewPCG(1, 2)))
	}
	for name, spoil := range map[string]func(*Vector){
		"span outside":    func(v *Vector) { v.Span[1].Len = uint32(v.Elem.Len) + 1 },
		"span too far":    func(v *Vector) { v.Span[1].Off = 1<<32 - 1 },
		"few counts":      func(v *Vector) { v.Counts = v.Counts[1:] },
		"few spans":       func(v *Vector) { v.Span = v.Span[1:] },
		"no elements":     func(v *Vector) { v.Elem = nil },
		"other elements":  func(v *Vector) { v.Elem.Type.Kind = Int8 },
		"NULL elements":   func(v *Vector) { v.Elem.Null = make([]bool, v.Elem.Len) },
		"few elements":    func(v *Vector) { v.Elem.Int = nil },
		"coded elements":  func(v *Vector) { v.Elem.Dict = &Dict{} },
		"nested elements": func(v *Vector) { v.Elem.Type.Nest = List },
	} {
		if v := ok(); !v.Valid() {
			t.Fatal("not valid to begin with")
		} else if spoil(v); v.Valid() {
			t.Errorf("%s: taken as valid", name)
		}
	}
}
