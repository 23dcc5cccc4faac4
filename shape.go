package gagg

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// shaped is a result that was made of all rows of another one: they were read, and this record
// comes in their place.
type shaped struct {
	record arrow.Record
	given  bool
}

// shape has the rows be those of a record, which is theirs from now on.
func (r *Rows) shape(record arrow.Record) { r.shaped = &shaped{record: record} }

func (s *shaped) next() bool {
	more := !s.given && s.record.NumRows() > 0
	s.given = true
	return more
}

// appendCell appends row i of an array to a builder of its type.
func appendCell(to array.Builder, from arrow.Array, i int) {
	if from.IsNull(i) {
		to.AppendNull()
		return
	}
	switch to := to.(type) {
	case *array.Int64Builder:
		to.Append(from.(*array.Int64).Value(i))
	case *array.Float64Builder:
		to.Append(from.(*array.Float64).Value(i))
	case *array.StringBuilder:
		to.Append(from.(*array.String).Value(i))
	default:
		panic(fmt.Sprintf("no cell of %s", to.Type()))
	}
}
