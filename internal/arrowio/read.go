package arrowio

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// Reader reads records of a file. It is for one goroutine; who has it closes it.
type Reader struct {
	file  *File
	on    *Projection
	codec codec
	drawn int64 // for the record at hand
}

// NewReader returns a reader of the columns of a projection.
func (f *File) NewReader(on *Projection) *Reader { return &Reader{file: f, on: on} }

// Close gives back the memory of the last record, which nobody may use any more.
func (r *Reader) Close() {
	r.release()
	r.codec.close()
}

func (r *Reader) release() {
	r.file.from.Release(r.drawn)
	r.drawn = 0
}

// Read reads a record, out of the bytes that the file was opened with. It is good until the next
// call; the caller releases it.
func (r *Reader) Read(from io.ReaderAt, i int) (rec arrow.Record, err error) {
	defer func() { err = damaged(err) }()
	defer invariant.Fence(&err, panicked)
	r.release()
	b := &r.file.records[i]
	m, err := b.message(from)
	if err != nil {
		return nil, err
	}
	d := batch{message: m, from: from, at: b.at + b.meta, file: r.file, dicts: b.dicts, codec: &r.codec, drawn: &r.drawn}
	if err := d.begin(m.header); err != nil {
		return nil, err
	}
	if d.rows != b.rows {
		return nil, errDamaged
	}
	columns, err := d.columns(r.on.fields, int(b.rows))
	if err != nil {
		return nil, err
	}
	arrays := make([]arrow.Array, len(columns))
	for i, data := range columns {
		arrays[i] = array.MakeFromData(data)
	}
	return array.NewRecord(r.on.Schema, arrays, b.rows), nil
}

// message reads what stands before the body.
func (b *block) message(from io.ReaderAt) (message, error) {
	m, again, err := readMessage(from, b.at, b.at+b.meta+b.body, b.meta)
	if err == nil && again != *b {
		err = errDamaged
	}
	return m, err
}

// batch is a record, or the values of a dictionary, as it is read.
type batch struct {
	message
	from  io.ReaderAt
	at    int64 // of the body
	file  *File
	dicts int // the dictionaries that count
	codec *codec
	drawn *int64

	rows             int64
	nodes, buffers   int // places of the next ones
	nodesLeft, bLeft int
	packed           packing
}

// The sizes of structs in a batch.
const nodeSize, bufferSize = 16, 16

// begin finds the lists of a batch, a table.
func (d *batch) begin(table int) (err error) {
	if d.rows, err = d.scalar(table, batchRows, 8); err != nil {
		return err
	}
	if d.nodes, d.nodesLeft, err = d.structs(table, batchNodes, nodeSize); err != nil {
		return err
	}
	if d.buffers, d.bLeft, err = d.structs(table, batchBuffers, bufferSize); err != nil {
		return err
	}
	body, ok, err := d.field(table, compression)
	if err != nil || !ok {
		return err
	}
	codec, err := d.scalar(body, compressionCodec, 1)
	d.packed = packing(codec + 1)
	return err
}

// columns reads the wanted ones of columns that have so many rows each.
func (d *batch) columns(fields []field, rows int) (wanted []arrow.ArrayData, err error) {
	for i := range fields {
		if !fields[i].wanted {
			err = d.skip(&fields[i])
		} else {
			var data arrow.ArrayData
			data, err = d.column(&fields[i], rows)
			wanted = append(wanted, data)
		}
		if err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

// skip passes over a column.
func (d *batch) skip(c *field) error {
	n, err := c.buffers()
	if err != nil {
		return err
	}
	if d.nodesLeft < 1 || d.bLeft < n {
		return errDamaged
	}
	d.nodes, d.nodesLeft = d.nodes+nodeSize, d.nodesLeft-1
	d.buffers, d.bLeft = d.buffers+n*bufferSize, d.bLeft-n
	for i := range c.children {
		if err := d.skip(&c.children[i]); err != nil {
			return err
		}
	}
	return nil
}

// column reads a column of so many rows.
func (d *batch) column(c *field, rows int) (arrow.ArrayData, error) {
	nulls, err := d.node(rows)
	if err != nil {
		return nil, err
	}
	t := storage(c.Type)
	if t.ID() == arrow.NULL {
		return array.NewData(c.Type, rows, []*memory.Buffer{nil}, nil, rows, 0), nil
	}
	valid, nulls, err := d.validity(rows, nulls)
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case *arrow.StructType:
		children, err := d.columns(c.children, rows)
		if err != nil {
			return nil, err
		}
		return array.NewData(c.Type, rows, []*memory.Buffer{valid}, children, nulls, 0), nil
	case *arrow.DictionaryType:
		return d.coded(c, t, rows, valid, nulls)
	case arrow.BinaryDataType:
		offsets, text, err := d.texts(rows, t.Layout().Buffers[1].ByteWidth)
		return array.NewData(c.Type, rows, []*memory.Buffer{valid, offsets, text}, nil, nulls, 0), err
	case arrow.FixedWidthDataType:
		values, err := d.buffer((int64(rows)*int64(t.BitWidth()) + 7) / 8)
		return array.NewData(c.Type, rows, []*memory.Buffer{valid, values}, nil, nulls, 0), err
	}
	return nil, fmt.Errorf("column %q: %s; not supported", c.Name, t)
}

// node takes the next node, whose column must have so many rows.
func (d *batch) node(rows int) (nulls int, err error) {
	if d.nodesLeft == 0 {
		return 0, errDamaged
	}
	n, err := d.int(d.nodes, 8)
	if err != nil || n != int64(rows) {
		return 0, errDamaged
	}
	m, err := d.int(d.nodes+8, 8)
	if err != nil || m < 0 || m > n {
		return 0, errDamaged
	}
	d.nodes, d.nodesLeft = d.nodes+nodeSize, d.nodesLeft-1
	return int(m), nil
}

// validity reads the bitmap of rows that are no NULL: nil if there are none that are. How many
// there are is counted, whatever the file says.
func (d *batch) validity(rows, nulls int) (*memory.Buffer, int, error) {
	if nulls == 0 {
		return nil, 0, d.pass()
	}
	b, err := d.buffer((int64(rows) + 7) / 8)
	return b, array.UnknownNullCount, err
}

// texts reads the offsets, of so many bytes each, and the bytes of texts.
func (d *batch) texts(rows, width int) (offsets, text *memory.Buffer, err error) {
	if rows == 0 { // of which some write no offsets
		if err := d.pass(); err != nil {
			return nil, nil, err
		}
		return memory.NewBufferBytes(make([]byte, width)), nil, d.pass()
	}
	if offsets, err = d.buffer(int64(rows+1) * int64(width)); err != nil {
		return nil, nil, err
	}
	end, err := checkOffsets(offsets.Bytes(), rows, width)
	if err != nil {
		return nil, nil, err
	}
	text, err = d.buffer(end)
	return offsets, text, err
}

// checkOffsets returns the last of rows+1 offsets, which must rise.
func checkOffsets(b []byte, rows, width int) (end int64, err error) {
	if width == 4 {
		return rising(arrow.Int32Traits.CastFromBytes(b)[:rows+1])
	}
	return rising(arrow.Int64Traits.CastFromBytes(b)[:rows+1])
}

func rising[T int32 | int64](offsets []T) (int64, error) {
	last := T(0)
	for _, at := range offsets {
		if at < last {
			return 0, errDamaged
		}
		last = at
	}
	return int64(last), nil
}

// coded reads the codes of a column with a dictionary.
func (d *batch) coded(c *field, t *arrow.DictionaryType, rows int, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	width := t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
	codes, err := d.buffer(int64(rows) * int64(width))
	if err != nil {
		return nil, err
	}
	dict, err := d.file.valuesOf(c, t.ValueType, d)
	if err != nil {
		return nil, err
	}
	return array.NewDataWithDictionary(c.Type, rows, []*memory.Buffer{valid, codes}, nulls, 0, dict), nil
}
