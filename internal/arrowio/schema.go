package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// This file looks at the schema of Arrow IPC before the library does, which goes down into it by
// calling itself, as deep as it says: a few megabytes would end the process.
//
// A schema is a table of FlatBuffers:
//
//	offset:  uint32, forward from where it stands
//	table:   int32, back to its vtable | values
//	vtable:  uint16 its size | uint16 | for each field uint16, from the table; 0: it is not there
//	vector:  uint32 number | elements

const (
	maxArrowDepth  = 64        // as of Parquet
	maxArrowSchema = 256 << 20 // as of a Parquet footer

	// Numbers of fields, by the format's Message.fbs, File.fbs and Schema.fbs.
	messageHeader, footerSchema, schemaFields, fieldChildren = 2, 1, 1, 5
)

var (
	errSchema = errors.New("damaged Arrow schema")
	ErrDepth  = fmt.Errorf("columns nested more than %d levels deep; not supported", maxArrowDepth)
)

// flat is the memory of a table of FlatBuffers, with all that it refers to.
type flat struct {
	b    []byte
	seen int // tables
}

// checkSchema checks the depth of the schema that is field n of the root.
func checkSchema(b []byte, n int) error {
	f := flat{b: b}
	root, err := f.offset(0)
	if err != nil {
		return err
	}
	schema, ok, err := f.field(root, n)
	if err != nil || !ok {
		return err
	}
	return f.fields(schema, schemaFields, 1)
}

// fields checks the vector of tables, each a column, that is field n of a table.
func (f *flat) fields(table, n, depth int) error {
	vector, ok, err := f.field(table, n)
	if err != nil || !ok {
		return err
	}
	count, err := f.number(vector)
	if err != nil {
		return err
	}
	// Tables may share what they refer to, so that a few bytes are many columns.
	if f.seen += count; f.seen > len(f.b)/8 {
		return errSchema
	}
	if count > 0 && depth > maxArrowDepth {
		return ErrDepth
	}
	for i := range count {
		column, err := f.offset(vector + 4 + 4*i)
		if err != nil {
			return err
		}
		if err := f.fields(column, fieldChildren, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// number is the uint32 at a place.
func (f *flat) number(at int) (int, error) {
	if at < 0 || at > len(f.b)-4 {
		return 0, errSchema
	}
	return int(binary.LittleEndian.Uint32(f.b[at:])), nil
}

// offset is the place that an offset leads to.
func (f *flat) offset(at int) (int, error) {
	n, err := f.number(at)
	return at + n, err
}

// field is the place that field n of a table leads to, if it is there.
func (f *flat) field(table, n int) (at int, ok bool, err error) {
	back, err := f.number(table)
	if err != nil {
		return 0, false, err
	}
	vtable := table - int(int32(back))
	if vtable < 0 || vtable > len(f.b)-4 {
		return 0, false, errSchema
	}
	size := int(binary.LittleEndian.Uint16(f.b[vtable:]))
	entry := 4 + 2*n
	if entry+2 > size {
		return 0, false, nil
	}
	if vtable+entry+2 > len(f.b) {
		return 0, false, errSchema
	}
	from := int(binary.LittleEndian.Uint16(f.b[vtable+entry:]))
	if from == 0 {
		return 0, false, nil
	}
	at, err = f.offset(table + from)
	return at, true, err
}

// CheckedStream checks the schema that an Arrow IPC stream begins with, and returns the same stream.
func CheckedStream(r io.Reader) (io.Reader, error) {
	var head bytes.Buffer
	size, err := messageSize(io.TeeReader(r, &head))
	prefix := head.Len()
	whole := io.MultiReader(&head, r)
	if err != nil {
		return whole, nil //nolint:nilerr // the library says what it is not
	}
	if size > maxArrowSchema { // or text
		return nil, errSchema
	}
	if _, err := io.CopyN(&head, r, int64(size)); err != nil {
		return whole, nil //nolint:nilerr // as above
	}
	return whole, checkSchema(head.Bytes()[prefix:], messageHeader)
}

// messageSize reads what stands before a message: a mark, which old streams lack, and its size.
func messageSize(r io.Reader) (size uint32, err error) {
	if err = binary.Read(r, binary.LittleEndian, &size); err == nil && size == 0xFFFFFFFF {
		err = binary.Read(r, binary.LittleEndian, &size)
	}
	return size, err
}

// checkFooter checks the schema in the footer of an Arrow IPC file:
//
//	footer | int32 its size | ARROW1
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [10]byte
	if size < int64(2*len(tail)) {
		return nil // the library says what it is not
	}
	if _, err := r.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > maxArrowSchema || n > size-int64(len(tail)) {
		return errSchema
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-int64(len(tail))-n); err != nil {
		return err
	}
	return checkSchema(footer, footerSchema)
}
