package arrowio

import (
	"encoding/binary"
	"errors"
	"io"
)

var errDamaged = errors.New("damaged Arrow IPC")

// block is where a message is.
type block struct {
	at   int64 // its beginning
	meta int64 // bytes before the body
	body int64
}

// message is the part of a message before its body.
type message struct {
	flat
	kind   int // schemaMessage …
	header int // the table
	body   int64
}

// readAt fills b from offset off.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil, errors.Is(err, io.EOF):
		return errDamaged
	}
	return err
}

// prefixSize is what stands before the table of a message: a mark and its size.
const prefixSize = 8

// readMessage reads the message at a place, before end; meta is 0 behind the last one. likely is
// how many bytes stand before its body, as far as known: they are read at once.
func readMessage(r io.ReaderAt, at, end, likely int64) (m message, b block, err error) {
	n := min(max(likely, prefixSize), prefixSize+maxArrowSchema, end-at)
	if n == 0 {
		return m, b, nil
	}
	if n < 4 {
		return m, b, errDamaged
	}
	head := make([]byte, n)
	if err := readAt(r, head, at); err != nil {
		return m, b, err
	}
	size, prefix := binary.LittleEndian.Uint32(head), int64(4)
	if size == 0xFFFFFFFF && n >= prefixSize {
		size, prefix = binary.LittleEndian.Uint32(head[4:]), 8
	}
	if size == 0 {
		return m, b, nil
	}
	if int64(size) > min(maxArrowSchema, end-at-prefix) {
		return m, b, errDamaged
	}
	var table []byte
	if whole := prefix + int64(size); whole <= n {
		table = head[prefix:whole:whole]
	} else {
		table = make([]byte, size)
		if err := readAt(r, table, at+prefix); err != nil {
			return m, b, err
		}
	}
	m, err = parseMessage(table)
	b = block{at: at, meta: prefix + int64(size), body: m.body}
	if err == nil && m.body > end-at-b.meta {
		err = errDamaged
	}
	return m, b, err
}

// parseMessage finds the header of a message.
func parseMessage(table []byte) (m message, err error) {
	m.b = table
	root, err := m.offset(0)
	if err != nil {
		return m, err
	}
	kind, err := m.scalar(root, messageType, 1)
	if err != nil {
		return m, err
	}
	if m.body, err = m.scalar(root, messageBody, 8); err != nil {
		return m, err
	}
	m.kind = int(kind)
	header, ok, err := m.field(root, messageHeader)
	m.header = header
	if err == nil && (!ok || m.body < 0) {
		err = errDamaged
	}
	return m, err
}

// scalar is field n of a table, a number of so many bytes; 0: it is not there.
func (f *flat) scalar(table, n, bytes int) (int64, error) {
	at, ok, err := f.place(table, n)
	if err != nil || !ok {
		return 0, err
	}
	return f.int(at, bytes)
}

// int is the number at a place.
func (f *flat) int(at, bytes int) (int64, error) {
	if at < 0 || at > len(f.b)-bytes {
		return 0, errSchema
	}
	switch bytes {
	case 1:
		return int64(f.b[at]), nil
	case 2:
		return int64(binary.LittleEndian.Uint16(f.b[at:])), nil
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(f.b[at:]))), nil
	}
	return int64(binary.LittleEndian.Uint64(f.b[at:])), nil
}

// structs is the vector of structs, of so many bytes each, that is field n of a table.
func (f *flat) structs(table, n, bytes int) (at, count int, err error) {
	at, ok, err := f.field(table, n)
	if err != nil || !ok {
		return 0, 0, err
	}
	if count, err = f.number(at); err != nil {
		return 0, 0, err
	}
	at += 4
	if count > (len(f.b)-at)/bytes {
		return 0, 0, errSchema
	}
	return at, count, nil
}
