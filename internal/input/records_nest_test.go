package input

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
)

// A list or map in the input cannot be used, though a result may hold one;
// the columns beside it can.
func TestNestedInputRefused(t *testing.T) {
	t.Parallel()
	int64Type := column.Type{Kind: column.Int64}
	schema := arrow.NewSchema([]arrow.Field{
		column.ArrowField("l", column.ListOf(int64Type), true), column.ArrowField("m", column.MapOf(int64Type), true),
		column.ArrowField("x", int64Type, true),
	}, nil)
	stream, err := array.NewRecordReader(schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Release()
	in, err := newRecordInput("records", stream.Schema(), fromReader(stream), budget.Or(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"l", "m", "#1"} {
		if _, err := in.Find(name); !errors.As(err, new(*UsageError)) || !strings.Contains(err.Error(), "cannot be used") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if i, err := in.Find("x"); i != 2 || err != nil {
		t.Errorf("x: column %d, %v", i, err)
	}
	for _, f := range in.Schema().Fields[:2] {
		if f.Type.IsNested() {
			t.Errorf("%s is described as %s", f.Name, f.Type)
		}
	}
}
