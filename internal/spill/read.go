package spill

import (
	"errors"
	"io"
	"math"
)

// reader is the memory of one Read.
type reader struct {
	head  [headerSize]byte
	buf   []byte // payload, and slack behind it
	frame frame
}

// Read returns the block, in dst's memory if that is large enough. Whatever
// is not as it was written is a *DamagedError.
func (f *File) Read(e Extent, dst []byte) ([]byte, error) {
	if uint64(cap(dst)) < uint64(e.Raw) {
		dst = make([]byte, e.Raw)
	}
	dst = dst[:e.Raw]
	r, err := f.reader()
	if err != nil {
		return nil, err
	}
	defer f.done(r)
	if err := f.readAll(r.head[:], e.Off); err != nil {
		return nil, err
	}
	if parse(r.head[:]).part {
		err = f.readParts(r, e, dst)
	} else {
		err = f.readPayload(r, e, dst)
	}
	if err != nil {
		return nil, err
	}
	return dst, nil
}

// readPayload reads what is behind the header of a block, or a part, that has been read.
func (f *File) readPayload(r *reader, e Extent, dst []byte) error {
	if n := int64(e.Stored) - headerSize; n < 0 || n > int64(e.Raw) { // SHRINKS
		return f.damaged(header{seq: math.MaxUint32}, "its extent is none")
	}
	payload, err := f.fetch(r, e, dst)
	if err != nil {
		return err
	}
	h, wrong := verify(r.head[:], payload, e, f.number, f.space.seed)
	if wrong != "" {
		return f.damaged(h, wrong)
	}
	if !decode(dst, payload, h, &r.frame) {
		return f.damaged(h, "its payload")
	}
	return nil
}

// fetch reads the payload of a block. One that is the block itself (SHRINKS) goes to dst at once.
func (f *File) fetch(r *reader, e Extent, dst []byte) ([]byte, error) {
	payload := dst
	if n := int(e.Stored - headerSize); n != len(dst) {
		r.buf = f.grow(r.buf, n+slack)
		payload = r.buf[:n]
	}
	return payload, f.readAll(payload, e.Off+headerSize)
}

// readAll is one ReadAt; the end of the file is damage.
func (f *File) readAll(b []byte, off int64) error {
	n, err := f.handle.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return f.damaged(header{seq: math.MaxUint32}, "the file ends before it does")
	}
	return f.space.failure(err, "read")
}

func (f *File) damaged(h header, what string) error {
	block := int64(h.seq)
	f.mu.Lock()
	defer f.mu.Unlock()
	if block*headerSize >= f.end { // then the number is damaged itself
		block = -1
	}
	return &DamagedError{Dir: f.space.config.Dir, Block: block, What: what}
}

// reader returns memory for one Read.
func (f *File) reader() (*reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, ErrClosed
	}
	if n := len(f.readers); n > 0 {
		r := f.readers[n-1]
		f.readers = f.readers[:n-1]
		return r, nil
	}
	return &reader{}, nil
}

func (f *File) done(r *reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		free(r.buf)
		return
	}
	f.readers = append(f.readers, r)
}
