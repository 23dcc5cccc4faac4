package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Magic is what a file begins with.
const Magic = "ARROW1"

const (
	tailSize  = 4 + len(Magic)
	fileStart = 8 // of the stream in a file
	blockSize = 24
)

// File is the index of a file, or of a stream in one. It is safe for concurrent use.
type File struct {
	Schema *arrow.Schema

	fields  []field
	records []record
	dicts   []dictionary
	from    budget.Lender
	drawn   int64
	start   int64 // of the messages behind the schema
	partial error // what Complete says

	mu           sync.Mutex
	dictionaries map[[2]int]*values // by the messages that they are made of: see valuesOf
}

// record is a batch of rows.
type record struct {
	block
	rows  int64
	dicts int // how many dictionaries stand before it
}

// dictionary is a message that holds values, or more of them.
type dictionary struct {
	block
	id    int64
	delta bool
}

// Open makes the index of the size bytes of r. Its memory, and that of its dictionaries, is drawn
// from a lender; nil: there is no limit.
func Open(r io.ReaderAt, size int64, from budget.Lender) (f *File, err error) {
	defer invariant.Fence(&err, panicked)
	f = &File{from: budget.Or(from), dictionaries: map[[2]int]*values{}}
	defer func() {
		if err != nil {
			f.Close()
			f, err = nil, damaged(err)
		}
	}()
	magic := make([]byte, min(len(Magic), int(max(size, 0))))
	if err := readAt(r, magic, 0); err != nil {
		return f, err
	}
	if string(magic) == Magic {
		return f, f.openFile(r, size)
	}
	return f, f.openStream(r, size)
}

// Records is how many there are.
func (f *File) Records() int { return len(f.records) }

// Rows is how many rows a record has.
func (f *File) Rows(i int) int64 { return f.records[i].rows }

// Bytes is how many a record takes in the file.
func (f *File) Bytes(i int) int64 { return f.records[i].body }

// Place is where a record is in the file.
func (f *File) Place(i int) (off, size int64) {
	b := &f.records[i].block
	return b.at, b.meta + b.body
}

// Close gives the memory back.
func (f *File) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.dictionaries {
		f.drawn += v.bytes
	}
	clear(f.dictionaries)
	f.from.Release(f.drawn)
	f.drawn = 0
}

// openFile takes the index from the footer.
func (f *File) openFile(r io.ReaderAt, size int64) error {
	if size < int64(fileStart+tailSize) {
		return errDamaged
	}
	var tail [tailSize]byte
	end := size - int64(tailSize)
	if err := readAt(r, tail[:], end); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != Magic {
		return fmt.Errorf("not a complete Arrow IPC file: ends with %q", tail[4:])
	}
	if n > maxArrowSchema || n > end-fileStart {
		return errDamaged
	}
	footer := flat{b: make([]byte, n)}
	end -= n
	if err := readAt(r, footer.b, end); err != nil {
		return err
	}
	root, err := footer.offset(0)
	if err != nil {
		return err
	}
	if err := f.readSchema(r, fileStart, end); err != nil {
		return err
	}
	for _, list := range []int{footerDictionaries, footerRecords} {
		if err := f.addBlocks(r, &footer, root, list, end); err != nil {
			return err
		}
	}
	f.partial = f.checkBlocks(r, end)
	return f.checkAlone(r, end)
}

// addBlocks adds the messages that a list in the footer names.
func (f *File) addBlocks(r io.ReaderAt, footer *flat, root, list int, end int64) error {
	at, count, err := footer.structs(root, list, blockSize)
	if err != nil {
		return err
	}
	for done := 0; done < count; done += announcedBlocks {
		blocks, err := footer.blocks(at+done*blockSize, min(count-done, announcedBlocks), end)
		if err == nil {
			err = f.addAnnounced(r, blocks, end)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// announcedBlocks is how many messages a reader that is far away is told of at once: with what lies
// between small ones these are a few megabytes.
const announcedBlocks = 64

// blocks are entries of a list in the footer: where each message is, and how much stands before
// its body.
func (f *flat) blocks(at, count int, end int64) (all [][2]int64, err error) {
	for i := range count {
		from, err := f.int(at+i*blockSize, 8)
		if err != nil {
			return nil, err
		}
		meta, err := f.int(at+i*blockSize+8, 4)
		if err != nil {
			return nil, err
		}
		if from < fileStart || from > end || meta < 0 || meta > end-from {
			return nil, errDamaged
		}
		all = append(all, [2]int64{from, meta})
	}
	return all, nil
}

// Far is a reader of what is far away, where each read is a request: it is told of ranges, each an
// offset and a size, that are read next, and when they were.
type Far interface {
	Want(part int, ranges [][2]int64, hold, lazy bool)
	Done(part int)
}

// Parts for a Far: records have those from 0 on.
const (
	HeadPart  = -1 // how a file begins
	indexPart = -2
)

// addAnnounced adds the messages of blocks.
func (f *File) addAnnounced(r io.ReaderAt, blocks [][2]int64, end int64) error {
	if far, ok := r.(Far); ok {
		far.Want(indexPart, blocks, true, false)
		defer far.Done(indexPart)
	}
	for _, at := range blocks {
		m, b, err := readMessage(r, at[0], end, at[1])
		if err == nil && b.meta == 0 {
			err = errDamaged
		}
		if err == nil {
			err = f.add(&m, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openStream goes through a stream, from message to message.
func (f *File) openStream(r io.ReaderAt, size int64) error {
	if err := f.readSchema(r, 0, size); err != nil {
		if errors.Is(err, ErrDepth) {
			return err
		}
		return errors.New("not an Arrow IPC file or stream")
	}
	at := f.start
	m, b, err := readMessage(r, at, size, 0)
	for err == nil && b.meta > 0 {
		at = b.at + b.meta + b.body
		if err = f.add(&m, b); err == nil {
			m, b, err = readMessage(r, at, size, 0)
		}
	}
	if err == nil {
		f.partial, err = checkEnd(r, at, size)
	}
	return err
}

// checkEnd says what is wrong with the end mark that stands at a place.
func checkEnd(r io.ReaderAt, at, size int64) (wrong, err error) {
	mark := make([]byte, min(4, size-at))
	if len(mark) == 0 {
		return ErrCut, nil
	}
	if err := readAt(r, mark, at); err != nil {
		return nil, err
	}
	behind := size - at - 4
	if mark[0] == 0xFF { // of the mark before a size
		behind -= 4
	}
	if behind > 0 {
		return errBehind(behind), nil
	}
	return nil, nil
}

// indexBytes is what a record takes in the index.
const indexBytes = 2 * int64(unsafe.Sizeof(record{}))

// add adds a message to the index.
func (f *File) add(m *message, b block) error {
	if err := f.from.Draw(indexBytes); err != nil {
		return err
	}
	f.drawn += indexBytes
	switch m.kind {
	case recordMessage:
		rows, err := m.scalar(m.header, batchRows, 8)
		if err != nil || rows < 0 || rows > maxRows {
			return errDamaged
		}
		f.records = append(f.records, record{block: b, rows: rows, dicts: len(f.dicts)})
	case dictionaryMessage:
		d := dictionary{block: b}
		var err error
		if d.id, err = m.scalar(m.header, dictionaryID, 8); err != nil {
			return err
		}
		delta, err := m.scalar(m.header, dictionaryDelta, 1)
		if err != nil {
			return err
		}
		d.delta = delta != 0
		f.dicts = append(f.dicts, d)
	default:
		return errDamaged
	}
	return nil
}

// maxRows is the most of a record: what a Go array's int32 offsets reach, and more than any has.
const maxRows = 1<<31 - 1

// readSchema has the library decode the schema at a place, once its depth is known.
func (f *File) readSchema(r io.ReaderAt, at, end int64) error {
	m, b, err := readMessage(r, at, end, 0)
	switch {
	case err != nil:
		return err
	case b.meta == 0, m.kind != schemaMessage:
		return errDamaged
	}
	if err := checkSchema(m.b, messageHeader); err != nil {
		return err
	}
	const bigEndian = 1
	order, err := m.scalar(m.header, schemaEndianness, 2)
	switch {
	case err != nil:
		return err
	case order == bigEndian:
		return errors.New("numbers are big-endian; not supported")
	}
	text := binary.LittleEndian.AppendUint32([]byte{0xFF, 0xFF, 0xFF, 0xFF}, uint32(len(m.b)))
	schema, err := ipc.NewReader(bytes.NewReader(append(text, m.b...)))
	if err != nil {
		return fmt.Errorf("%w: %w", errSchema, err)
	}
	defer schema.Release()
	f.Schema, f.start = schema.Schema(), b.at+b.meta+b.body
	f.fields, err = m.columns(f.Schema.Fields(), m.header, schemaFields)
	return err
}

// panicked is the error of what the library panicked with.
func panicked(p any) error { return fmt.Errorf("%w (decoder: %v)", errDamaged, p) }

// damaged says that of errors of a part.
func damaged(err error) error {
	if errors.Is(err, errSchema) && !errors.Is(err, errDamaged) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}
