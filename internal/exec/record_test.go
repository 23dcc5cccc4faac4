package exec

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/column"
)

// What passes the limits of an Arrow array becomes several records, in
// order; other errors, and one row that is too large, end the run and leave
// nothing behind.
func TestInPieces(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		rows   int
		most   int   // rows that fit a record
		fatal  int64 // the value that nothing can hold; -1: none
		reason error // why not
		pieces []int64
	}{
		{"all in one", 7, 7, -1, nil, []int64{7}},
		{"halves", 7, 4, -1, nil, []int64{3, 4}},
		{"rows", 5, 1, -1, nil, []int64{1, 1, 1, 1, 1}},
		{"none", 0, 0, -1, nil, []int64{0}},
		{"one row too large", 6, 6, 4, column.ErrTooLarge, nil},
		{"broken", 6, 2, 4, broken, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			v := column.Vector{Type: column.Type{Kind: column.Int64}, Len: c.rows}
			for i := range c.rows {
				v.Int = append(v.Int, int64(i))
			}
			schema := arrow.NewSchema([]arrow.Field{column.ArrowField("x", v.Type, true)}, nil)
			recs, err := inPieces(&column.Batch{Rows: c.rows, Cols: []column.Vector{v}}, func(b *column.Batch) (arrow.Record, error) {
				if slices.Contains(b.Cols[0].Int, c.fatal) {
					return nil, fmt.Errorf("column: %w", c.reason)
				}
				if b.Rows > c.most {
					return nil, fmt.Errorf("column: %w", column.ErrTooLarge)
				}
				arr, err := column.ToArrow(&b.Cols[0], mem)
				if err != nil {
					return nil, err
				}
				defer arr.Release()
				return array.NewRecord(schema, []arrow.Array{arr}, int64(b.Rows)), nil
			})
			if !errors.Is(err, c.reason) || (err == nil) != (c.reason == nil) {
				t.Fatalf("error %v, want %v", err, c.reason)
			}
			next := int64(0)
			var pieces []int64
			for _, rec := range recs {
				pieces = append(pieces, rec.NumRows())
				for i := range int(rec.NumRows()) {
					if x := rec.Column(0).(*array.Int64).Value(i); x != next {
						t.Errorf("value %d, want %d", x, next)
					}
					next++
				}
				rec.Release()
			}
			if !slices.Equal(pieces, c.pieces) {
				t.Errorf("pieces of %v rows, want %v", pieces, c.pieces)
			}
		})
	}
}
