package evict

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Rows is the evicted rows of a finished pass that stayed in pinned memory. Each is taken once, by
// Spans or by Drain, of which one is used. Spans is called from any goroutine. It outlives its
// pass, not its context; Close comes when no span is used any more.
type Rows struct {
	buffers []*buffer
	spans   []Span // in order of hash
	bits    uint
	rows    uint64
	row     cuda.Size
}

// Rows hands over the rows that were retained, once, when Finish has returned: they are the
// caller's to close. nil: there are none.
func (e *Eviction) Rows() *Rows {
	buffers := e.retention.full
	e.retention.full = nil
	if len(buffers) == 0 {
		return nil
	}
	r := &Rows{buffers: buffers, bits: MaxChainBits, row: e.row}
	for _, b := range buffers {
		b.left.Store(int32(len(b.spans)))
		r.spans = append(r.spans, b.spans...)
		for _, s := range b.spans {
			r.bits = min(r.bits, s.bits)
			r.rows += uint64((s.end - s.from) / r.row)
		}
	}
	slices.SortStableFunc(r.spans, func(a, b Span) int { return cmp.Compare(a.start, b.start) })
	return r
}

// Len is how many rows there are.
func (r *Rows) Len() uint64 { return r.rows }

// Bits is how many top bits of the hash chains were told apart by, at least: rows that share more
// than these cannot be taken alone.
func (r *Rows) Bits() uint { return r.bits }

// Sizes is how many rows there are by the top bits of their hash, of which there are Bits at most.
func (r *Rows) Sizes(bits uint) []uint64 {
	sizes := make([]uint64, 1<<bits)
	for _, s := range r.spans {
		sizes[s.start>>1>>(63-bits)] += uint64((s.end - s.from) / r.row)
	}
	return sizes
}

// Spans is the rows whose hashes have `bits` top bits, at most Bits, that are the number prefix.
// Each span is the caller's until it is Done.
func (r *Rows) Spans(prefix uint64, bits uint) []Span {
	from := func(number uint64) int {
		at, _ := slices.BinarySearchFunc(r.spans, number, func(s Span, number uint64) int {
			return cmp.Compare(s.start>>1>>(63-bits), number)
		})
		return at
	}
	return r.spans[from(prefix):from(prefix+1)]
}

// Drain gives write all rows, a buffer at a time, from so many goroutines at once, each with its
// number from 0, and frees each buffer behind it. write copies the rows; its first error ends it.
func (r *Rows) Drain(goroutines int, write func(goroutine int, rows []uint64) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	errs := make(chan error, goroutines)
	for g := range goroutines {
		go func() {
			errs <- invariant.Fenced(func() error {
				for n := next.Add(1) - 1; n < int64(len(r.buffers)) && !failed.Load(); n = next.Add(1) - 1 {
					if err := r.buffers[n].drain(func(rows []uint64) error { return write(g, rows) }); err != nil {
						failed.Store(true)
						return err
					}
				}
				return nil
			})
		}()
	}
	var err error
	for range goroutines {
		err = errors.Join(err, <-errs)
	}
	return err
}

// drain gives write all rows of a buffer, and frees it.
func (b *buffer) drain(write func(rows []uint64) error) error {
	for i := range b.spans {
		if err := write(b.spans[i].Rows()); err != nil {
			return err
		}
	}
	return b.free()
}

// Close frees what is left, whoever has it. A second call does nothing.
func (r *Rows) Close() error {
	var errs []error
	for _, b := range r.buffers {
		errs = append(errs, b.free())
	}
	r.buffers, r.spans = nil, nil
	return errors.Join(errs...)
}
