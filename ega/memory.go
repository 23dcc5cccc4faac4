package ega

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// ErrTooSmall is that a pass was given too little device memory for the least that it needs.
var ErrTooSmall = errors.New("too little device memory")

// SmallError is an ErrTooSmall that says how much there has to be.
type SmallError struct {
	Has, Need cuda.Size
}

func (e *SmallError) Error() string {
	return fmt.Sprintf("%v: %v, at least %v (%d bytes) are needed", ErrTooSmall, e.Has, e.Need, uint64(e.Need))
}

// Is makes it an ErrTooSmall.
func (e *SmallError) Is(target error) bool { return target == ErrTooSmall }

// memory is device memory that is freed together.
type memory struct {
	thread *cuda.Thread
	pieces []*cuda.Memory
}

// alloc adds a piece.
func (m *memory) alloc(n cuda.Size) (cuda.Span, error) {
	piece, err := m.thread.Alloc(max(n, 8))
	if err != nil {
		return cuda.Span{}, err
	}
	m.pieces = append(m.pieces, piece)
	return piece.Span(), nil
}

// wish is memory that is wanted.
type wish struct {
	to    *cuda.Span
	bytes cuda.Size
}

// fulfil allocates all of it or, on an error, nothing.
func (m *memory) fulfil(wishes ...wish) (err error) {
	for _, w := range wishes {
		if *w.to, err = m.alloc(w.bytes); err != nil {
			return errors.Join(err, m.close())
		}
	}
	return nil
}

func (m *memory) close() error {
	var errs []error
	for _, p := range m.pieces {
		errs = append(errs, p.Close())
	}
	m.pieces = nil
	return errors.Join(errs...)
}

// words reads the first n words of 64 bits; the work that writes them has ended.
func (m *memory) words(from cuda.Span, n int) ([]uint64, error) {
	raw := make([]byte, 8*n)
	if err := m.thread.Read(raw, from.Slice(0, cuda.Size(len(raw)))); err != nil {
		return nil, err
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return out, nil
}
