package arrow18

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// What goes to gagg has the buffers of the batch, and comes back as it was: values, NULLs, place in
// the buffers, and what fields say of themselves. It holds them after the batch is released.
func TestThereAndBack(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	about := arrow.NewMetadata([]string{"unit"}, []string{"m"})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Metadata: about},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String, Ordered: true}, Nullable: true},
		{Name: "l", Type: arrow.ListOfField(arrow.Field{Name: "e", Type: arrow.PrimitiveTypes.Float32, Metadata: about}), Nullable: true},
		{Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), Nullable: true},
		{Name: "r", Type: arrow.StructOf(arrow.Field{Name: "t", Type: arrow.FixedWidthTypes.Timestamp_us}), Nullable: true},
	}, &about)
	whole, _, err := array.RecordFromJSON(mem, schema, strings.NewReader(`[
		{"n": 0, "s": "zero", "d": "zero", "l": [0, 0.5], "m": [{"key": "z", "value": 0}], "r": {"t": 0}},
		{"n": 1, "s": "one", "d": "one", "l": [1], "m": [{"key": "o", "value": 1}, {"key": "e", "value": null}], "r": {"t": 1}},
		{"n": 2, "s": null, "d": null, "l": null, "m": null, "r": null},
		{"n": 3, "s": "one", "d": "one", "l": [], "m": [], "r": {"t": 3}}]`))
	if err != nil {
		t.Fatal(err)
	}
	b := whole.NewSlice(1, 4)
	rec := record15(b, schema15(schema))
	for i, c := range rec.Columns() {
		for k, shared := range c.Data().Buffers() {
			if of := b.Column(i).Data().Buffers()[k]; shared != nil && shared.Len() > 0 && &shared.Bytes()[0] != &of.Bytes()[0] {
				t.Errorf("buffer %d of column %d was copied", k, i)
			}
		}
	}
	back, err := Batch(rec)
	if err != nil {
		t.Fatal(err)
	}
	rec.Release()
	if !back.Schema().Equal(schema) || !back.Schema().Metadata().Equal(about) || !array.RecordEqual(back, b) {
		t.Errorf("%v, want %v", back, b)
	}
	b.Release()
	whole.Release()
	if mem.CurrentAlloc() == 0 || back.Column(1).ValueStr(0) != "one" {
		t.Error("it went with the batch")
	}
	back.Release()
}
