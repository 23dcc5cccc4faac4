package arrow18

import (
	"sync/atomic"

	arrow15 "github.com/apache/arrow/go/v15/arrow"
	array15 "github.com/apache/arrow/go/v15/arrow/array"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Reader is the rows of a result, [gagg.Rows], as a reader of version 18, for one goroutine. It
// holds a reference to them: both are released, in any order. Its batch is valid until the next
// call of Next unless it is retained, and then for as long as it is, whatever becomes of the rows.
func Reader(rows array15.RecordReader) array.RecordReader {
	r := &reader{rows: rows}
	r.schema, r.err = schema18(rows.Schema())
	if r.err != nil {
		r.schema = arrow.NewSchema(nil, nil)
	}
	rows.Retain()
	r.references.Store(1)
	return r
}

type reader struct {
	references atomic.Int64
	rows       array15.RecordReader
	schema     *arrow.Schema
	batch      arrow.RecordBatch // nil: there is none
	err        error             // why the schema is not that of the rows
}

func (r *reader) Schema() *arrow.Schema          { return r.schema }
func (r *reader) RecordBatch() arrow.RecordBatch { return r.batch }
func (r *reader) Record() arrow.RecordBatch      { return r.batch }
func (r *reader) Retain()                        { r.references.Add(1) }

func (r *reader) Release() {
	if r.references.Add(-1) == 0 {
		r.drop()
		r.rows.Release()
	}
}

func (r *reader) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.rows.Err()
}

func (r *reader) Next() bool {
	r.drop()
	if r.err != nil || !r.rows.Next() {
		return false
	}
	r.batch = record18(r.rows.Record(), r.schema)
	return true
}

func (r *reader) drop() {
	if r.batch != nil {
		r.batch.Release()
		r.batch = nil
	}
}

// Batch is a record that gagg has made, such as that of [gagg.Head], as a record batch of version
// 18. The caller releases both. The error is that of a type that gagg does not make.
func Batch(rec arrow15.Record) (arrow.RecordBatch, error) {
	schema, err := schema18(rec.Schema())
	if err != nil {
		return nil, err
	}
	return record18(rec, schema), nil
}

func record18(rec arrow15.Record, schema *arrow.Schema) arrow.RecordBatch {
	columns := make([]arrow.Array, rec.NumCols())
	for i, c := range rec.Columns() {
		data := data18(c.Data(), schema.Field(i).Type)
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	defer releaseAll(columns)
	return array.NewRecordBatch(schema, columns, rec.NumRows())
}

// data18 is an array as type18 has it: as, for the caller to release.
func data18(d arrow15.ArrayData, as arrow.DataType) arrow.ArrayData {
	storage := as
	if e, ok := as.(arrow.ExtensionType); ok {
		storage = e.StorageType()
	}
	var children []arrow.ArrayData
	for i, c := range d.Children() {
		children = append(children, data18(c, storage.(arrow.NestedType).Fields()[i].Type))
	}
	defer releaseAll(children)
	buffers := buffers18(d.Buffers())
	defer releaseAll(buffers)
	data := array.NewData(as, d.Len(), buffers, children, d.NullN(), d.Offset())
	if t, ok := storage.(*arrow.DictionaryType); ok {
		dictionary := data18(d.Dictionary(), t.ValueType)
		defer dictionary.Release()
		data.SetDictionary(dictionary)
	}
	return data
}
