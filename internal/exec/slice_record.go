package exec

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// sliceRecord is rows from to to of a record. Lists of which the rows have no value
// are made anew: Arrow's IPC writer panics at the values that they leave out
// where these are binary (arrow/go v15.0.2, ipc/writer.go, ValueOffset64 of none).
func sliceRecord(rec arrow.Record, from, to int64) arrow.Record {
	slice := rec.NewSlice(from, to)
	for i, column := range slice.Columns() {
		list, ok := column.(array.ListLike)
		if !ok || list.Len() == 0 || list.ListValues().Len() == 0 {
			continue
		}
		first, _ := list.ValueOffsets(0)
		if _, last := list.ValueOffsets(list.Len() - 1); last > first {
			continue
		}
		slice = withColumn(slice, i)
	}
	return slice
}

// withColumn is a record in which a column is replaced by a copy, without the values that the
// record does not refer to. The record is released.
func withColumn(rec arrow.Record, i int) arrow.Record {
	defer rec.Release()
	whole, err := array.Concatenate([]arrow.Array{rec.Column(i)}, memory.DefaultAllocator)
	if err != nil { // of types that it does not know: none that lists of ours have
		rec.Retain()
		return rec
	}
	defer whole.Release()
	columns := append([]arrow.Array(nil), rec.Columns()...)
	columns[i] = whole
	return array.NewRecord(rec.Schema(), columns, rec.NumRows())
}
