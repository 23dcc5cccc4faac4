package column

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Names of the fields in a list and in the entries of a map, as the Arrow
// format recommends them.
const (
	itemName  = "item"
	keyName   = "key"
	countName = "value"
)

// nestedArrowType is list<item: T> or map<T, int64>. Items and counts are
// declared nullable, as is usual; keys are not, as the format demands.
func nestedArrowType(t Type) arrow.DataType {
	if t.Nest == List {
		return arrow.ListOfField(ArrowField(itemName, t.Elem(), true))
	}
	key := ArrowField(keyName, t.Elem(), false)
	return arrow.MapOfWithMetadata(key.Type, key.Metadata, arrow.PrimitiveTypes.Int64, arrow.Metadata{})
}

func fromListType(dt *arrow.ListType) (Type, error) {
	t, err := fromElemField(dt, dt.ElemField())
	if err != nil {
		return Type{}, err
	}
	return ListOf(t), nil
}

func fromMapType(dt *arrow.MapType) (Type, error) {
	t, err := fromElemField(dt, dt.KeyField())
	if err == nil && dt.ItemType().ID() != arrow.INT64 {
		err = fmt.Errorf("%w: %s", ErrNoArrowType, dt)
	}
	if err != nil {
		return Type{}, err
	}
	return MapOf(t), nil
}

func fromElemField(dt arrow.DataType, f arrow.Field) (Type, error) {
	t, err := FromArrowField(f)
	if err != nil || t.IsNested() {
		return Type{}, fmt.Errorf("%w: %s", ErrNoArrowType, dt)
	}
	return t.Plain(), nil
}

// listToArrow is ToArrow for lists and maps.
func listToArrow(v *Vector, mem memory.Allocator) (arrow.Array, error) {
	var buf Buffer
	flat := Flatten(v, &buf)
	if err := flat.fitsArrow(); err != nil {
		return nil, err
	}
	if !flat.endToEnd() {
		flat = Concat([]Vector{flat})
	}
	elems, counts := flat.used()
	child, err := ToArrow(&elems, mem)
	if err != nil {
		return nil, err
	}
	defer child.Release()
	data := child.Data()
	if v.Type.Nest == Map {
		data = entries(v.Type, child, counts, mem)
		defer data.Release()
	}
	validity, nulls := validityBitmap(flat.Null, flat.Len, mem)
	offsets := offsetBuffer(&flat, mem)
	if validity != nil {
		defer validity.Release()
	}
	defer offsets.Release()
	out := array.NewData(ArrowType(v.Type), v.Len, []*memory.Buffer{validity, offsets}, []arrow.ArrayData{data}, nulls, 0)
	defer out.Release()
	return array.MakeFromData(out), nil
}

// entries are the pairs of a map array: a struct of keys and counts.
func entries(t Type, keys arrow.Array, counts []int64, mem memory.Allocator) arrow.ArrayData {
	n := keys.Len()
	buf := copyWords(&Vector{Len: n}, counts, nil, mem)
	defer buf.Release()
	items := array.NewData(arrow.PrimitiveTypes.Int64, n, []*memory.Buffer{nil, buf}, nil, 0, 0)
	defer items.Release()
	pair := ArrowType(t).(*arrow.MapType).Elem()
	return array.NewData(pair, n, []*memory.Buffer{nil}, []arrow.ArrayData{keys.Data(), items}, 0, 0)
}

func offsetBuffer(v *Vector, mem memory.Allocator) *memory.Buffer {
	buf, offsets := newBuffer[int32](v.Len+1, mem)
	at := int32(0)
	for i := range v.Len {
		offsets[i] = at
		from, to := v.Range(i)
		at += int32(to - from)
	}
	offsets[v.Len] = at
	return buf
}

// fitsArrow checks that the lists of v do not pass the 32-bit offsets of an
// Arrow array, laid end to end.
func (v *Vector) fitsArrow() error {
	elems, bytes := 0, 0
	for i := range v.Len {
		from, to := v.Range(i)
		elems += to - from
		if v.Type.Elem().Rep() != RepBytes {
			continue
		}
		for j := from; j < to; j++ {
			bytes += int(v.Elem.Span[j].Len)
		}
	}
	if elems > math.MaxInt32 {
		return fmt.Errorf("%w: %d elements in the lists of %d rows, and one array holds 2^31-1", ErrTooLarge, elems, v.Len)
	}
	if bytes > math.MaxInt32 {
		return fmt.Errorf("%w: %d bytes of text in the lists of %d rows, and one array holds 2 GiB", ErrTooLarge, bytes, v.Len)
	}
	return nil
}

// endToEnd reports whether each list of v begins where the one before it
// ends, as those of an Arrow array do.
func (v *Vector) endToEnd() bool {
	at := -1
	for i := range v.Len {
		from, to := v.Range(i)
		if from == to {
			continue
		}
		if at >= 0 && from != at {
			return false
		}
		at = to
	}
	return true
}

// used returns the part of Elem and Counts that belongs to the lists of v, which lie end to end.
func (v *Vector) used() (elems Vector, counts []int64) {
	first, last := 0, 0
	for i := range v.Len {
		from, to := v.Range(i)
		if from == to {
			continue
		}
		if last == 0 {
			first = from
		}
		last = to
	}
	if first == last {
		return Vector{Type: v.Type.Elem()}, nil
	}
	if v.Type.Nest == Map {
		counts = v.Counts[first:last]
	}
	return v.Elem.rows(first, last), counts
}

// rows returns the rows from..to of a flat vector without NULLs; they share its memory.
func (v *Vector) rows(from, to int) Vector {
	out := Vector{Type: v.Type, Len: to - from, Data: v.Data}
	switch v.Type.Rep() {
	case RepInt64:
		if v.Type.Kind != Null {
			out.Int = v.Int[from:to]
		}
	case RepFloat64:
		out.Float = v.Float[from:to]
	case RepWide:
		out.Wide = v.Wide[from:to]
	default:
		out.Span = v.Span[from:to]
	}
	return out
}
