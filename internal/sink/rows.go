package sink

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/column"
)

// rowReader turns records into flat vectors, so that the formats meet five
// representations in place of Arrow's thirty arrays. Numbers are copied, which
// costs a nanosecond a value; a text form costs twenty. Strings stay in the record.
type rowReader struct {
	fields  []column.Field
	null    []bool // the column may hold NULL
	raw     []column.Vector
	vectors []column.Vector // valid as long as the record, and until the next one
	flat    []column.Buffer
}

func newRowReader(schema *arrow.Schema) (*rowReader, error) {
	n := len(schema.Fields())
	r := &rowReader{raw: make([]column.Vector, n), vectors: make([]column.Vector, n), flat: make([]column.Buffer, n)}
	for _, f := range schema.Fields() {
		t, err := column.FromArrowField(f)
		if err != nil {
			return nil, err
		}
		r.fields = append(r.fields, column.Field{Name: f.Name, Type: t})
		r.null = append(r.null, f.Nullable)
	}
	return r, nil
}

// read sets r.vectors to the columns of rec and returns the number of rows.
func (r *rowReader) read(rec arrow.Record) (int, error) {
	if int(rec.NumCols()) != len(r.fields) {
		return 0, fmt.Errorf("a record of %d columns, expected %d", rec.NumCols(), len(r.fields))
	}
	for i := range r.fields {
		if err := r.readColumn(rec, i); err != nil {
			return 0, err
		}
	}
	return int(rec.NumRows()), nil
}

func (r *rowReader) readColumn(rec arrow.Record, i int) error {
	if err := column.ViewArrow(rec.Column(i), &r.raw[i]); err != nil {
		return fmt.Errorf("column %q: %w", r.fields[i].Name, err)
	}
	if !sameReps(r.raw[i].Type, r.fields[i].Type) {
		return fmt.Errorf("column %q: %s in place of %s", r.fields[i].Name, r.raw[i].Type, r.fields[i].Type)
	}
	r.raw[i].Type = r.fields[i].Type // knows UUIDs
	r.vectors[i] = column.Flatten(&r.raw[i], &r.flat[i])
	return nil
}

// readLarge is read of a record of one row, but of lists and maps it tells only whether they are
// NULL: see largeValue.
func (r *rowReader) readLarge(rec arrow.Record) error {
	if int(rec.NumCols()) != len(r.fields) {
		return fmt.Errorf("a record of %d columns, expected %d", rec.NumCols(), len(r.fields))
	}
	for i, f := range r.fields {
		if f.Type.IsNested() {
			r.vectors[i] = column.Vector{Type: f.Type, Len: 1, Null: []bool{rec.Column(i).IsNull(0)}}
		} else if err := r.readColumn(rec, i); err != nil {
			return err
		}
	}
	return nil
}

// sameReps reports whether vectors of t and u have the same slices.
func sameReps(t, u column.Type) bool {
	return t.Nest == u.Nest && t.Elem().Rep() == u.Elem().Rep()
}
