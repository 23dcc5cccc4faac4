package parquetio

import (
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// This file reads usual footers in one pass. It decodes one row group at a time, into memory that
// the next one uses again, and checks it. What stays is the schema, the number of rows, and the
// places of the chunks, which are decoded again when they are asked for (chunks.go). If anything
// is odd nothing stays, and the library decodes the footer.

// footerDecoder decodes a footer.
type footerDecoder struct {
	groupDecoder
	f       *file
	meta    *format.FileMetaData // without row groups and keys
	table   chunkTable
	one     format.RowGroup // the one at hand
	groups  []rowGroup
	rows    int64
	drawn   int64
	failure error // what is wrong with a footer that is not odd
}

// Fields that the format requires.
var (
	footerRequired = fieldSet(1, 2, 3, 4)
	orderRequired  = fieldSet(1)
)

// decodeQuickly decodes and checks a usual footer, and reports whether this is one. If not, f is
// as before.
func (f *file) decodeQuickly(data []byte) (usual bool, err error) {
	d := footerDecoder{groupDecoder: groupDecoder{thriftQuick: thriftQuick{data: data}, again: true}, f: f, meta: new(format.FileMetaData)}
	d.fields(footerRequired, d.field)
	switch {
	case d.failure != nil:
		return true, d.failure
	case d.odd: // bytes behind the footer are not read
		f.leaves = nil
		f.metadata.give(d.drawn)
		return false, nil
	}
	f.meta, f.chunks, f.groups, f.rows = d.meta, d.table, d.groups, d.rows
	return true, f.validateRows()
}

func (d *footerDecoder) field(id int, t byte) {
	switch id {
	case 1:
		d.meta.Version = d.i32(t)
	case 2:
		d.readSchema(t)
	case 3:
		d.meta.NumRows = d.i64(t)
	case 4:
		d.readGroups(t)
	case 5: // keys and values of writers
		d.skip(t)
	case 6:
		d.meta.CreatedBy = string(d.bytes(t))
	case 7:
		d.readOrders(t)
	default: // encrypted
		d.odd = true
	}
}

// draw reserves memory for n elements of a list. It reports whether a footer of this size may ask
// for so much, and has got it.
func (d *footerDecoder) draw(n int, size int64, what string) bool {
	if int64(n) > (freeFooterCost+maxFooterGrowth*int64(len(d.data)))/size {
		d.odd = true
	}
	if d.odd {
		return false
	}
	if d.failure = d.f.metadata.draw(int64(n)*size, what); d.failure != nil {
		d.odd = true
		return false
	}
	d.drawn += int64(n) * size
	return true
}

func (d *footerDecoder) readSchema(t byte) {
	n := d.list(t, thriftStruct)
	if !d.draw(n, int64(unsafe.Sizeof(format.SchemaElement{})), "a schema") {
		return
	}
	schema := make([]format.SchemaElement, n)
	for i := range schema {
		d.element(&schema[i])
	}
	if d.odd {
		return
	}
	if d.f.leaves, d.failure = schemaLeaves(schema, d.f.limits.MaxDepth, len(d.data)); d.failure == nil {
		d.draw(1, sizeOfLeaves(d.f.leaves), "a schema")
	}
	d.odd = d.odd || d.failure != nil
}

// readGroups reads the row groups. The schema comes before them, since fields are in the order of
// their numbers.
func (d *footerDecoder) readGroups(t byte) {
	n, columns := d.list(t, thriftStruct), len(d.f.leaves)
	if n*columns > len(d.data) {
		d.odd = true
	}
	if !d.draw(n, groupBytes, "a list of row groups") || !d.draw(n*columns, chunkPlace+int64(unsafe.Sizeof(format.ColumnChunk{})), "the decoded form of a footer") {
		return
	}
	d.groups = make([]rowGroup, 0, n)
	d.table = newChunkTable(d.data, n*columns)
	d.one.Columns = make([]format.ColumnChunk, columns)
	for g := range n {
		d.readGroup(g)
		if d.odd {
			return
		}
	}
}

// readGroup goes through a row group.
func (d *footerDecoder) readGroup(g int) {
	d.reuse()
	columns := d.one.Columns
	clear(columns)
	d.one = format.RowGroup{Columns: columns}
	d.places = d.table.places[g*len(columns) : (g+1)*len(columns)]
	if d.group(&d.one); d.odd {
		return
	}
	var group rowGroup
	if group, d.failure = d.f.validateGroup(g, d.rows, &d.one); d.failure != nil {
		d.odd = true
		return
	}
	d.groups = append(d.groups, group)
	d.rows += group.rows
	d.draw(d.listed, int64(unsafe.Sizeof(format.KeyValue{})), "the decoded form of a footer")
	d.listed = 0
}

func (d *footerDecoder) readOrders(t byte) {
	n := d.list(t, thriftStruct)
	if !d.draw(n, int64(unsafe.Sizeof(format.KeyValue{})), "the decoded form of a footer") {
		return
	}
	d.meta.ColumnOrders = make([]format.ColumnOrder, n)
	for i := range d.meta.ColumnOrders {
		d.fields(orderRequired, func(id int, t byte) {
			if id != 1 {
				d.odd = true
				return
			}
			d.meta.ColumnOrders[i].Value = new(format.TypeDefinedOrder)
			d.structure(t, 0, func(_ int, t byte) { d.skip(t) })
		})
	}
}
