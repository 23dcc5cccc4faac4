package column

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// ArrowBytes is about how many bytes the values of the rows from..to of arr have: those of
// strings and of the elements of lists, and 8 for each row and element.
func ArrowBytes(arr arrow.Array, from, to int) int64 {
	arr = storage(arr)
	n := 8 * int64(to-from)
	if from == to {
		return n
	}
	switch a := arr.(type) {
	case *array.List:
		first, last := spanOf(a, from, to)
		return n + ArrowBytes(a.ListValues(), first, last)
	case *array.Map:
		first, last := spanOf(a.List, from, to)
		return n + 8*int64(last-first) + ArrowBytes(a.Keys(), first, last)
	case *array.String:
		return n + bytesBetween(a.ValueOffsets(), from, to)
	case *array.Binary:
		return n + bytesBetween(a.ValueOffsets(), from, to)
	}
	if w, ok := arr.DataType().(arrow.FixedWidthDataType); ok {
		n += int64(to-from) * int64(w.BitWidth()/8)
	}
	return n
}

func spanOf(a *array.List, from, to int) (first, last int) {
	offsets := a.Offsets()[a.Offset():]
	return int(offsets[from]), int(offsets[to])
}

func bytesBetween(offsets []int32, from, to int) int64 { return int64(offsets[to] - offsets[from]) }
