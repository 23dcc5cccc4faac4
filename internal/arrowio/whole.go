package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
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

// Whole is the messages of a stream behind its schema, for a reader that must have all of them:
// each is passed on when all of it has come, and what is behind its end is an error, as is an end
// without a mark.
type Whole struct {
	from io.Reader
	next bytes.Buffer
	err  error
}

// NewWhole returns the messages that from has.
func NewWhole(from io.Reader) *Whole { return &Whole{from: from} }

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
	defer fence(&err)
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
	return cutWithin(w.take(m.body))
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
