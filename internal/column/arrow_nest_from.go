package column

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// listFromArrow sets the lists or maps of v, whose type, length and NULLs
// are set, to those of arr.
func listFromArrow(arr arrow.Array, v *Vector, data dataOf) error {
	if v.Elem == nil {
		v.Elem = &Vector{}
	}
	list, keys := listOf(arr)
	if v.Len == 0 {
		*v.Elem = Vector{Type: v.Type.Elem()}
		return nil
	}
	first, last, err := spansOfLists(list, v)
	if err != nil {
		return err
	}
	if last > int64(keys.Len()) {
		return fmt.Errorf("arrow array: an offset of %d in %d elements", last, keys.Len())
	}
	return elementsFromArrow(arr, keys, first, last, v, data)
}

// elementsFromArrow sets the elements and counts of v to those of arr from first to last.
func elementsFromArrow(arr, keys arrow.Array, first, last int64, v *Vector, data dataOf) error {
	part := array.NewSlice(keys, first, last)
	defer part.Release()
	if err := flatFromArrow(part, v.Elem, data); err != nil {
		return err
	}
	v.Elem.Type = v.Type.Elem() // knows UUIDs
	if m, ok := arr.(*array.Map); ok {
		counts := array.NewSlice(m.Items(), first, last)
		defer counts.Release()
		if counts.NullN() > 0 {
			return fmt.Errorf("arrow array: a NULL in a map")
		}
		v.Counts = intsOf(counts, v.Counts)
	}
	return nil
}

// ListRange is the range of elements that row i of an array of lists or maps has.
func ListRange(arr arrow.Array, i int) (from, to int64) {
	list, _ := listOf(storage(arr))
	return list.ValueOffsets(i)
}

// ViewElements sets v, whose type is set, to one list or map: the elements first to last, counted
// over all rows of arr. As with ViewArrow, strings stay in the memory of arr.
func ViewElements(arr arrow.Array, first, last int64, v *Vector) error {
	arr = storage(arr)
	_, keys := listOf(arr)
	if v.Elem == nil {
		v.Elem = &Vector{}
	}
	v.Len, v.Null, v.Span = 1, nil, append(v.Span[:0], Span{Len: uint32(last - first)})
	return elementsFromArrow(arr, keys, first, last, v, viewData)
}

// listOf returns arr as a list, and the array of its elements or keys.
func listOf(arr arrow.Array) (list *array.List, elems arrow.Array) {
	if m, ok := arr.(*array.Map); ok {
		return m.List, m.Keys()
	}
	list = arr.(*array.List)
	return list, list.ListValues()
}

// spansOfLists sets v.Span and returns the range of elements that the lists
// of arr hold; the spans count from its start.
func spansOfLists(arr *array.List, v *Vector) (first, last int64, err error) {
	offsets := arr.Offsets()[arr.Data().Offset():][:v.Len+1]
	v.Span = sized(v.Span, v.Len)
	for i := range v.Span {
		if offsets[i+1] < offsets[i] || offsets[i] < offsets[0] || offsets[0] < 0 {
			return 0, 0, fmt.Errorf("arrow array: offset of row %d is not in order", i)
		}
		v.Span[i] = Span{Off: uint32(offsets[i] - offsets[0]), Len: uint32(offsets[i+1] - offsets[i])}
	}
	return int64(offsets[0]), int64(offsets[v.Len]), nil
}

// flatFromArrow is FromArrow for elements: no codes and no NULLs.
func flatFromArrow(arr arrow.Array, v *Vector, data dataOf) error {
	if err := fromArrow(arr, v, data, nil); err != nil {
		return err
	}
	if slices.Contains(v.Null, true) {
		return fmt.Errorf("arrow array: a NULL in a list")
	}
	v.Null = nil
	if v.Dict != nil {
		*v = Flatten(v, &Buffer{})
	}
	return nil
}
