package input

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// The vectors made of records are drawn from the budget, and given back when
// the reader is closed; a refusal is the budget's error.
func TestRecordsBudget(t *testing.T) {
	t.Parallel()
	b := array.NewRecordBuilder(memory.NewGoAllocator(), arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32}, {Name: "s", Type: arrow.BinaryTypes.String},
	}, nil))
	defer b.Release()
	const rows, length = 1000, 3000
	for i := range rows {
		b.Field(0).(*array.Int32Builder).Append(int32(i))
		b.Field(1).(*array.StringBuilder).Append(strings.Repeat("x", length))
	}
	rec := b.NewRecord()
	defer rec.Release()

	for _, c := range []struct {
		limit int64
		fails bool
	}{{0, false}, {8 << 20, false}, {1 << 20, true}} {
		memory := budget.New(budget.Memory, c.limit)
		stream, err := array.NewRecordReader(rec.Schema(), []arrow.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		in, err := newRecordInput("records", stream.Schema(), fromReader(stream), memory)
		if err != nil {
			t.Fatal(err)
		}
		s, err := in.Scan(parquetio.ScanOptions{Columns: []int{0, 1}})
		if err != nil {
			t.Fatal(err)
		}
		r := s.Reader()
		var batch column.Batch
		ok, err := r.Next(&batch)
		var refused *budget.Error
		if c.fails != errors.As(err, &refused) || ok == c.fails {
			t.Errorf("limit %d: %v, %v", c.limit, ok, err)
		}
		if used := memory.Reserved(); !c.fails && used < rows*length {
			t.Errorf("limit %d: %d bytes drawn for %d", c.limit, used, rows*length)
		}
		r.Close()
		r.Close()
		if used := memory.Reserved(); used != 0 {
			t.Errorf("limit %d: %d bytes not given back", c.limit, used)
		}
		stream.Release()
	}
}
