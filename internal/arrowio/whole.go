package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file is for who must have all records or none. Arrow lets a stream end without its end mark,
// so that one which was cut between two messages looks whole; and the footer of a file may name
// fewer records than there are.

// ErrCut says that a stream ends without its end mark.
var ErrCut = errors.New("the stream was cut: it has no end mark")

func errBehind(n int64) error {
	if n < 0 {
		return fmt.Errorf("%w: bytes follow the end mark of the stream", errDamaged)
	}
	return fmt.Errorf("%w: %d bytes follow the end mark of the stream", errDamaged, n)
}

// Complete reports what is wrong with the file as a whole, nil for nothing: a stream must have its
// end mark and nothing behind it, and the messages that a footer names must be all that there are.
func (f *File) Complete() error { return f.partial }

// checkBlocks looks whether the messages of a file follow one another without a gap, from the
// schema to the footer.
func (f *File) checkBlocks(r io.ReaderAt, end int64) error {
	var all []block
	for _, d := range f.dicts {
		all = append(all, d.block)
	}
	for _, rec := range f.records {
		all = append(all, rec.block)
	}
	slices.SortFunc(all, func(a, b block) int { return int(min(max(a.at-b.at, -1), 1)) })
	at := f.start
	for _, b := range all {
		if b.at != at {
			return fmt.Errorf("%w: the footer does not name all that is in the file", errDamaged)
		}
		at += b.meta + b.body
	}
	// Some writers have an end mark before the footer.
	mark, _, err := readMessage(r, at, min(end, at+prefixSize), 0)
	if left := end - at; err != nil || left != 0 && (left != 4 && left != prefixSize || mark.b != nil) {
		return fmt.Errorf("%w: the footer does not name all that is in the file", errDamaged)
	}
	return nil
}

var errTwoFiles = errors.New("two Arrow IPC files in one, one behind the other: name them as files")

// aloneSlack is how much may lie between the last message of a file and its footer.
const aloneSlack = 64 << 10

// checkAlone looks whether another file lies before this one, over whose bytes the footer would be
// read: what no message takes is then as long as that file.
func (f *File) checkAlone(r io.ReaderAt, end int64) error {
	used := f.start
	for _, b := range f.dicts {
		used = max(used, b.at+b.meta+b.body)
	}
	for _, b := range f.records {
		used = max(used, b.at+b.meta+b.body)
	}
	before := end - used
	if before < int64(fileStart+tailSize) {
		return nil
	}
	from := max(before-aloneSlack, 0)
	some := make([]byte, min(before+int64(len(Magic)), end)-from)
	if err := readAt(r, some, from); err != nil {
		return err
	}
	if bytes.Contains(some, []byte(Magic+Magic)) {
		return errTwoFiles
	}
	return nil
}

// Whole is the messages of a stream behind its schema, for a reader that must have all of them:
// each is passed on when all of it has come, and what is behind its end is an error, as is an end
// without a mark.
type Whole struct {
	from    io.Reader
	columns int
	buffers int         // of a record
	values  map[int]int // how many buffers the values of a dictionary may have
	next    bytes.Buffer
	err     error
}

// NewWhole returns the messages that from has, of columns none of which is nested.
func NewWhole(from io.Reader, schema *arrow.Schema) *Whole {
	w := &Whole{from: from, columns: len(schema.Fields()), values: map[int]int{}}
	for _, f := range schema.Fields() {
		n, err := (&field{Field: f}).buffers()
		if err != nil {
			w.err = err
		}
		w.buffers += n
		if d, ok := storage(f.Type).(*arrow.DictionaryType); ok {
			if n, err = (&field{Field: arrow.Field{Name: f.Name, Type: d.ValueType}}).buffers(); err != nil {
				w.err = err
			}
			w.values[n] = n
		}
	}
	return w
}

// Err is what is wrong with the stream, as far as it was read.
func (w *Whole) Err() error {
	if errors.Is(w.err, io.EOF) {
		return nil
	}
	return w.err
}

func (w *Whole) Read(p []byte) (int, error) {
	if w.next.Len() == 0 && w.err == nil {
		w.next.Reset()
		if w.err = w.message(); w.err != nil && !errors.Is(w.err, io.EOF) {
			w.next.Reset()
		}
	}
	if w.next.Len() == 0 {
		return 0, w.err
	}
	return w.next.Read(p)
}

// message takes the next message; io.EOF: it is the end mark.
func (w *Whole) message() (err error) {
	defer invariant.Fence(&err, panicked)
	if err := w.take(4); err != nil {
		if errors.Is(err, io.EOF) && w.next.Len() == 0 {
			return ErrCut
		}
		return cutWithin(err)
	}
	size := binary.LittleEndian.Uint32(w.next.Bytes())
	if size == 0xFFFFFFFF {
		if err := w.take(4); err != nil {
			return cutWithin(err)
		}
		size = binary.LittleEndian.Uint32(w.next.Bytes()[4:])
	}
	if size == 0 {
		return w.end()
	}
	if size > maxArrowSchema {
		return errDamaged
	}
	prefix := w.next.Len()
	if err := w.take(int64(size)); err != nil {
		return cutWithin(err)
	}
	m, err := parseMessage(w.next.Bytes()[prefix:])
	if err != nil {
		return damaged(err)
	}
	body := w.next.Len()
	if err := w.take(m.body); err != nil {
		return cutWithin(err)
	}
	return damaged(w.checkLengths(&m, w.next.Bytes()[body:]))
}

// checkLengths looks whether the columns of a message have as many rows as it says, and their
// buffers, within its body: the library takes their word, and memory for it.
func (w *Whole) checkLengths(m *message, body []byte) error {
	table, columns, buffers := m.header, w.columns, w.buffers
	switch m.kind {
	case recordMessage:
	case dictionaryMessage:
		at, ok, err := m.field(table, dictionaryData)
		if err != nil || !ok {
			return errDamaged
		}
		table, columns = at, 1
	default:
		return errDamaged
	}
	d := batch{message: *m}
	if err := d.begin(table); err != nil {
		return err
	}
	if m.kind == dictionaryMessage {
		buffers = w.values[d.bLeft]
	}
	if d.rows < 0 || d.rows > maxRows || d.nodesLeft != columns || d.bLeft != buffers {
		return errDamaged
	}
	for d.nodesLeft > 0 {
		if _, err := d.node(int(d.rows)); err != nil {
			return err
		}
	}
	for d.bLeft > 0 {
		at, size, err := d.extent()
		if err != nil {
			return err
		}
		if d.packed != plain && size > 0 {
			if err := d.checkPacked(body[at : at+size]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPacked looks whether a buffer says that it is longer than its bytes can give.
func (d *batch) checkPacked(b []byte) error {
	if len(b) < unpackedSize {
		return errDamaged
	}
	size := int64(binary.LittleEndian.Uint64(b))
	if size < -1 || size > growthFloor+d.packed.growth()*int64(len(b)) {
		return errDamaged
	}
	return nil
}

// end looks what is behind the end mark.
func (w *Whole) end() error {
	var more [1]byte
	switch n, err := io.ReadFull(w.from, more[:]); {
	case n > 0:
		return errBehind(-1)
	case !errors.Is(err, io.EOF):
		return err
	}
	return io.EOF
}

// take adds n bytes to the message. Memory is only made for what has come.
func (w *Whole) take(n int64) error {
	_, err := io.CopyN(&w.next, w.from, n)
	return err
}

func cutWithin(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the stream was cut within a message", errDamaged)
	}
	return err
}
