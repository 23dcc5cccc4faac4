package evict

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Rows holds the evicted rows of a finished pass that were retained in pinned memory. Each is
// taken once, either by Spans or by Drain. Spans may be called from any goroutine. Rows may
// outlive the pass, but not the context. Close is called when no span is used any more.
type Rows struct {
	buffers []*buffer
	spans   []Span // in order of hash
	bits    uint
	rows    uint64
	row     cuda.Size
}

// Rows hands over the rows that were retained, once, when Finish has returned. The caller closes
// them. nil: there are none.
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

// Bits is the least number of top bits of the hash by which chains were divided. Rows cannot be
// taken by more bits than that.
func (r *Rows) Bits() uint { return r.bits }

// Sizes is the number of rows for each value of the top `bits` bits of their hash, at most Bits.
func (r *Rows) Sizes(bits uint) []uint64 {
	sizes := make([]uint64, 1<<bits)
	for _, s := range r.spans {
		sizes[s.start>>1>>(63-bits)] += uint64((s.end - s.from) / r.row)
	}
	return sizes
}

// Spans returns the rows whose hashes begin with prefix, a number of `bits` bits, at most Bits.
// The caller owns each span until it calls Done.
func (r *Rows) Spans(prefix uint64, bits uint) []Span {
	from := func(number uint64) int {
		at, _ := slices.BinarySearchFunc(r.spans, number, func(s Span, number uint64) int {
			return cmp.Compare(s.start>>1>>(63-bits), number)
		})
		return at
	}
	return r.spans[from(prefix):from(prefix+1)]
}

// Drain gives write all rows, a buffer at a time. That many goroutines call write at once, each
// with its number, from 0, and free each buffer afterwards. write copies the rows; its first error
// ends Drain.
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

// Close frees what is left, also spans that are not Done. A second call does nothing.
func (r *Rows) Close() error {
	var errs []error
	for _, b := range r.buffers {
		errs = append(errs, b.free())
	}
	r.buffers, r.spans = nil, nil
	return errors.Join(errs...)
}
