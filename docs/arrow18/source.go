package arrow18

import (
	"iter"

	arrow15 "github.com/apache/arrow/go/v15/arrow"
	array15 "github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	memory15 "github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/gagg-dev/gagg"
)

// Records is [gagg.Records] of a reader of version 18: it is read once, and the caller keeps it and
// releases it after the run.
func Records(r array.RecordReader) gagg.Source {
	return RecordSeq(r.Schema(), func(yield func(arrow.RecordBatch, error) bool) {
		r.Retain()
		defer r.Release()
		for r.Next() {
			if !yield(r.RecordBatch(), nil) {
				return
			}
		}
		if err := r.Err(); err != nil {
			yield(nil, err)
		}
	})
}

// RecordSeq is [gagg.RecordSeq] of an iterator over record batches of version 18, which all have
// the schema. A batch stays the iterator's: it may release it when yield returns, since the run
// retains what it still needs.
func RecordSeq(schema *arrow.Schema, batches iter.Seq2[arrow.RecordBatch, error]) gagg.Source {
	if schema == nil {
		return gagg.RecordSeq(nil, nil) // whose run says so
	}
	first := schema15(schema)
	return gagg.RecordSeq(first, func(yield func(arrow15.Record, error) bool) {
		of, as := schema, first
		for b, err := range batches {
			var rec arrow15.Record
			if err == nil && b != nil {
				if b.Schema() != of {
					of, as = b.Schema(), schema15(b.Schema())
				}
				rec = record15(b, as)
			}
			more := yield(rec, err)
			if rec != nil {
				rec.Release()
			}
			if !more {
				return
			}
		}
	})
}

func record15(b arrow.RecordBatch, schema *arrow15.Schema) arrow15.Record {
	columns := make([]arrow15.Array, b.NumCols())
	for i, c := range b.Columns() {
		data := data15(c.Data(), schema.Field(i).Type)
		columns[i] = array15.MakeFromData(data)
		data.Release()
	}
	defer releaseAll(columns)
	return array15.NewRecord(schema, columns, b.NumRows())
}

// data15 is an array as type15 has it: as, for the caller to release.
func data15(d arrow.ArrayData, as arrow15.DataType) arrow15.ArrayData {
	if _, ok := as.(*standIn); ok {
		return array15.NewData(as, d.Len(), make([]*memory15.Buffer, 2), nil, 0, 0)
	}
	if c := copied(d, as); c != nil {
		defer c.Release()
		c.Data().Retain()
		return c.Data()
	}
	var children []arrow15.ArrayData
	for i, c := range d.Children() {
		children = append(children, data15(c, as.(arrow15.NestedType).Fields()[i].Type))
	}
	defer releaseAll(children)
	buffers := buffers15(d.Buffers())
	defer releaseAll(buffers)
	data := array15.NewData(as, d.Len(), buffers, children, d.NullN(), d.Offset())
	if t, ok := as.(*arrow15.DictionaryType); ok {
		dictionary := data15(d.Dictionary(), t.ValueType)
		defer dictionary.Release()
		data.SetDictionary(dictionary)
	}
	return data
}

// copied is an array of a type that needs a copy; nil: it needs none.
func copied(d arrow.ArrayData, as arrow15.DataType) arrow15.Array {
	t := d.DataType()
	if e, ok := t.(arrow.ExtensionType); ok {
		t = e.StorageType()
	}
	switch t.ID() {
	case arrow.STRING_VIEW, arrow.BINARY_VIEW, arrow.DECIMAL32, arrow.DECIMAL64:
	default:
		return nil
	}
	// The data of an extension is that of its storage by another name.
	stored := array.NewData(t, d.Len(), d.Buffers(), nil, d.NullN(), d.Offset())
	defer stored.Release()
	arr := array.MakeFromData(stored)
	defer arr.Release()
	b := array15.NewBuilder(memory15.DefaultAllocator, as)
	defer b.Release()
	b.Reserve(arr.Len())
	for i := range arr.Len() {
		if arr.IsNull(i) {
			b.AppendNull()
			continue
		}
		switch arr := arr.(type) {
		case *array.StringView:
			b.(*array15.LargeStringBuilder).Append(arr.Value(i))
		case *array.BinaryView:
			b.(*array15.BinaryBuilder).Append(arr.Value(i))
		case *array.Decimal32:
			b.(*array15.Decimal128Builder).Append(decimal128.FromI64(int64(arr.Value(i))))
		case *array.Decimal64:
			b.(*array15.Decimal128Builder).Append(decimal128.FromI64(int64(arr.Value(i))))
		}
	}
	return b.NewArray()
}
