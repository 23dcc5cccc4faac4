package column

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Maps that are all NULL, as Arrow's IPC reader gives them: the buffer of their counts is
// missing.
func TestMapsWithoutEntries(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{{Name: "m", Type: arrow.MapOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64), Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).AppendNull()
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(schema))
	if err := w.Write(b.NewRecord()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Next() {
		t.Fatal(r.Err())
	}
	var v Vector
	if err := FromArrow(r.Record().Column(0), &v); err != nil || v.Len != 1 || !v.IsNull(0) {
		t.Errorf("%v %+v", err, v)
	}
}
