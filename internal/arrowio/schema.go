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
	messageType, messageHeader, messageBody          = 1, 2, 3
	footerSchema, footerDictionaries, footerRecords  = 1, 2, 3
	schemaEndianness, schemaFields, schemaMetadata   = 0, 1, 2
	fieldName, fieldDictionary, fieldChildren        = 0, 4, 5
	fieldMetadata, pairKey, pairValue                = 6, 0, 1
	encodingID                                       = 0
	dictionaryID, dictionaryData, dictionaryDelta    = 0, 1, 2
	batchRows, batchNodes, batchBuffers, compression = 0, 1, 2, 3
	compressionCodec                                 = 0

	// Types of messages.
	schemaMessage, dictionaryMessage, recordMessage = 1, 2, 3
)

var (
	errSchema = errors.New("damaged Arrow schema")
	// ErrDepth says that a schema goes deeper than any that is meant.
	ErrDepth = fmt.Errorf("columns nested more than %d levels deep; not supported", maxArrowDepth)
)

// flat is the memory of a table of FlatBuffers, with all that it refers to.
type flat struct {
	b    []byte
	seen int // tables
	text int // bytes of texts, which tables may share
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
	if err := f.metadata(schema, schemaMetadata); err != nil {
		return err
	}
	return f.fields(schema, schemaFields, 1)
}

// metadata checks the vector of keys and values that is field n of a table.
func (f *flat) metadata(table, n int) error {
	at, count, err := f.structs(table, n, 4)
	if err != nil {
		return err
	}
	for i := range count {
		pair, err := f.offset(at + 4*i)
		if err != nil {
			return err
		}
		for _, n := range []int{pairKey, pairValue} {
			if err := f.string(pair, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// string checks that the text that is field n of a table is there, and that texts are not shared so
// often that copies of them would be much larger than the schema.
func (f *flat) string(table, n int) error {
	_, length, err := f.structs(table, n, 1)
	if f.text += length; err == nil && f.text > 1<<20+16*len(f.b) {
		return errSchema
	}
	return err
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
		if err = f.string(column, fieldName); err == nil {
			err = f.metadata(column, fieldMetadata)
		}
		if err == nil {
			err = f.fields(column, fieldChildren, depth+1)
		}
		if err != nil {
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
	at, ok, err = f.place(table, n)
	if err != nil || !ok {
		return 0, false, err
	}
	at, err = f.offset(at)
	return at, true, err
}

// place is where field n of a table stands, if it is there.
func (f *flat) place(table, n int) (at int, ok bool, err error) {
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
	return table + from, true, nil
}

// CheckedStream checks the schema that an Arrow IPC stream begins with, and returns the same
// stream.
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
