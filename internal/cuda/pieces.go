package cuda

import (
	"encoding/binary"
	"errors"
)

// Pieces is device memory that is freed together. Thread is set before the first piece is
// allocated, and may change.
type Pieces struct {
	Thread *Thread
	pieces []*Memory
}

// Piece is a piece that is wanted: To becomes its span.
type Piece struct {
	To    *Span
	Bytes Size
}

// Alloc adds a piece of n bytes, or of 8 for less.
func (p *Pieces) Alloc(n Size) (Span, error) {
	piece, err := p.Thread.Alloc(max(n, 8))
	if err != nil {
		return Span{}, err
	}
	p.pieces = append(p.pieces, piece)
	return piece.Span(), nil
}

// AllocAll adds all of these pieces or, on an error, frees everything.
func (p *Pieces) AllocAll(pieces ...Piece) (err error) {
	for _, w := range pieces {
		if *w.To, err = p.Alloc(w.Bytes); err != nil {
			return errors.Join(err, p.Close())
		}
	}
	return nil
}

// AllocUnit is what an allocation is rounded up to: the driver hands out multiples of it.
const AllocUnit Size = 512

// Allocated is the device memory that allocations of these sizes take together.
func Allocated(sizes ...Size) (sum Size) {
	for _, n := range sizes {
		sum += (n + AllocUnit - 1) / AllocUnit * AllocUnit
	}
	return sum
}

// Close frees all pieces. A second call does nothing.
func (p *Pieces) Close() error {
	var errs []error
	for _, piece := range p.pieces {
		errs = append(errs, piece.Close())
	}
	p.pieces = nil
	return errors.Join(errs...)
}

// ReadWords reads the first n words of 64 bits of a span, like Read.
func (t *Thread) ReadWords(from Span, n int) ([]uint64, error) {
	raw := make([]byte, 8*n)
	if err := t.Read(raw, from.Slice(0, Size(len(raw)))); err != nil {
		return nil, err
	}
	words := make([]uint64, n)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return words, nil
}
