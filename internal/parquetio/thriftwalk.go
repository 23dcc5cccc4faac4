package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// thriftWalk goes over a struct in Thrift's compact protocol without making
// anything of it. It runs before parquet-go's decoder, which allocates lists
// by the length they claim and recurses into structs as deep as they go (a
// stack overflow cannot be recovered from): after the walk both are known to
// be harmless.
type thriftWalk struct {
	data []byte
	pos  int
	cost int64 // bytes that the lists seen make the decoder allocate

	// bare is where the structs end that are a key without a value: allowed
	// by the format, not by parquet-go's decoder.
	bare []int
}

var (
	errThriftEnd   = errors.New("ends inside a Thrift value")
	errThriftDepth = errors.New("values of Thrift nested too deeply")
)

// maxThriftDepth is well above the deepest struct that the format defines
// (8, a time unit in a schema element), to let future ones be skipped.
const maxThriftDepth = 32

// A footer may grow in memory by this factor, which the leanest real column
// chunk (about 40 bytes in the file) stays below, and small ones by a fixed
// sum.
const (
	maxFooterGrowth = 24
	freeFooterCost  = 8 << 20
)

// footer walks the whole of a footer and checks what decoding it would cost.
func (w *thriftWalk) footer() error {
	if err := w.structure(0, 0); err != nil {
		return err
	}
	if w.dear() {
		return fmt.Errorf("lists in a footer of %d bytes ask for %d bytes of memory", len(w.data), w.cost)
	}
	return nil
}

// dear reports whether decoding would cost too much.
func (w *thriftWalk) dear() bool {
	return w.cost > freeFooterCost+maxFooterGrowth*int64(len(w.data))
}

// elementSize is the memory of one element of a list. path is the
// numbers of the fields that lead to it, a byte each.
func elementSize(path uint64) int64 {
	switch path {
	case 0x02: // FileMetaData.schema
		return int64(unsafe.Sizeof(format.SchemaElement{}))
	case pathRowGroups:
		return int64(unsafe.Sizeof(format.RowGroup{}))
	case 0x0401: // RowGroup.columns
		return int64(unsafe.Sizeof(format.ColumnChunk{}))
	}
	return int64(unsafe.Sizeof(format.KeyValue{})) // the largest of the others
}

// Paths of lists: of row groups, and of KeyValue.
const (
	pathRowGroups = 0x04       // FileMetaData.row_groups
	pathFileKeys  = 0x05       // FileMetaData.key_value_metadata
	pathChunkKeys = 0x04010308 // RowGroup.columns.meta_data.key_value_metadata
)

// withValues returns data with an empty value for every bare key.
func (w *thriftWalk) withValues() []byte {
	if len(w.bare) == 0 {
		return w.data
	}
	out := make([]byte, 0, len(w.data)+3*len(w.bare))
	from := 0
	for _, end := range w.bare {
		out = append(out, w.data[from:end]...)
		out = append(out, thriftBinary, 2<<1, 0) // field 2, no bytes
		from = end
	}
	return append(out, w.data[from:]...)
}

// structure walks the fields of one struct up to and including its stop.
func (w *thriftWalk) structure(path uint64, depth int) error {
	if depth > maxThriftDepth {
		return errThriftDepth
	}
	id, hasValue := int64(0), false
	for {
		b, err := w.byte()
		if err != nil {
			return err
		}
		if b == 0 {
			if (path == pathFileKeys || path == pathChunkKeys) && !hasValue {
				w.bare = append(w.bare, w.pos-1)
			}
			return nil
		}
		if delta := b >> 4; delta != 0 {
			id += int64(delta)
		} else if id, err = w.varint(); err != nil {
			return err
		}
		hasValue = hasValue || id == 2
		if t := b & 0xF; t == thriftTrue || t == thriftFalse {
			continue // the field header is the value
		}
		if err := w.value(b&0xF, path<<8|uint64(id&0xFF), depth); err != nil {
			return err
		}
	}
}

// Type codes of the compact protocol.
const (
	thriftTrue = 1 + iota
	thriftFalse
	thriftI8
	thriftI16
	thriftI32
	thriftI64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
	thriftUUID
)

func (w *thriftWalk) value(t byte, path uint64, depth int) error {
	switch t {
	case thriftTrue, thriftFalse, thriftI8: // booleans here are elements of a list
		return w.skip(1)
	case thriftI16, thriftI32, thriftI64:
		return w.skipVarint()
	case thriftDouble:
		return w.skip(8)
	case thriftUUID:
		return w.skip(16)
	case thriftBinary:
		n, err := w.uvarint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftList, thriftSet:
		return w.list(path, depth+1)
	case thriftMap:
		return w.mapping(path, depth+1)
	case thriftStruct:
		return w.structure(path, depth+1)
	}
	return fmt.Errorf("unknown Thrift type %d", t)
}

func (w *thriftWalk) list(path uint64, depth int) error {
	b, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(b >> 4)
	if n == 0xF {
		if n, err = w.uvarint(); err != nil {
			return err
		}
	}
	// Every element takes a byte at least, so this bounds the loop too.
	if n > uint64(len(w.data)-w.pos) {
		return errThriftEnd
	}
	w.cost += int64(n) * elementSize(path)
	return w.elements(n, path, depth, b&0xF)
}

func (w *thriftWalk) mapping(path uint64, depth int) error {
	n, err := w.uvarint()
	if err != nil || n == 0 {
		return err
	}
	if n > uint64(len(w.data)-w.pos) {
		return errThriftEnd
	}
	types, err := w.byte()
	if err != nil {
		return err
	}
	return w.elements(n, path, depth, types>>4, types&0xF)
}

// elements walks n times a value of each of the types.
func (w *thriftWalk) elements(n uint64, path uint64, depth int, types ...byte) error {
	if depth > maxThriftDepth {
		return errThriftDepth
	}
	for range n {
		for _, t := range types {
			if err := w.value(t, path, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *thriftWalk) byte() (byte, error) {
	if w.pos >= len(w.data) {
		return 0, errThriftEnd
	}
	w.pos++
	return w.data[w.pos-1], nil
}

func (w *thriftWalk) skip(n uint64) error {
	if n > uint64(len(w.data)-w.pos) {
		return errThriftEnd
	}
	w.pos += int(n)
	return nil
}

// skipVarint leaves it to the decoder whether the number has too many bits.
func (w *thriftWalk) skipVarint() error {
	for i, b := range w.data[w.pos:] {
		if b < 0x80 {
			w.pos += i + 1
			return nil
		}
	}
	return errThriftEnd
}

func (w *thriftWalk) uvarint() (uint64, error) {
	u, n := binary.Uvarint(w.data[w.pos:])
	if n <= 0 {
		return 0, errThriftEnd
	}
	w.pos += n
	return u, nil
}

func (w *thriftWalk) varint() (int64, error) {
	v, n := binary.Varint(w.data[w.pos:])
	if n <= 0 {
		return 0, errThriftEnd
	}
	w.pos += n
	return v, nil
}
