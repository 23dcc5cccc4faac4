package evict

import (
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// buffer is a pinned buffer whose rows are retained. Its sender owns it first, then the retention,
// then Rows. Its memory is freed when the last span is done.
type buffer struct {
	of     *bufferMemory
	pinned *cuda.Pinned
	spans  []Span
	left   atomic.Int32 // spans that are not done with
	gone   atomic.Bool  // the memory was given back
}

// note adds n bytes of a chain, from byte `from` on: the chain of all rows whose hashes begin with
// the top bits of start.
func (b *buffer) note(start uint64, bits uint, from, n cuda.Size) {
	if last := len(b.spans) - 1; last >= 0 && b.spans[last].start == start && b.spans[last].bits == bits && b.spans[last].end == from {
		b.spans[last].end += n
		return
	}
	b.spans = append(b.spans, Span{buffer: b, start: start, bits: bits, from: from, end: from + n})
}

// free gives the memory back, once.
func (b *buffer) free() error {
	if b.gone.Swap(true) {
		return nil
	}
	return b.of.free(b.pinned)
}

// Span is evicted rows of one chain that lie side by side.
type Span struct {
	buffer    *buffer
	start     uint64 // the least hash that the chain may have
	bits      uint   // all have its top bits
	from, end cuda.Size
}

// Pinned returns the rows for a copy to a device, in any context. They may be read and written
// until Done.
func (s *Span) Pinned() cuda.PinnedSpan { return s.buffer.pinned.Span(s.from, s.end) }

// Rows returns the rows as words.
func (s *Span) Rows() []uint64 { return s.Pinned().Words() }

// Done is called once, when neither the device nor the host needs the rows any more. It may be
// called on any goroutine. Done of the last span of a buffer frees the memory; the error is that
// of freeing.
func (s *Span) Done() error {
	if s.buffer.left.Add(-1) > 0 {
		return nil
	}
	return s.buffer.free()
}

// bufferMemory allocates and frees the memory of retained rows.
type bufferMemory struct {
	context *cuda.Context
	host    budget.Lender // nil: there is no limit
	spares  *Spares       // may be nil
}

// make takes a spare buffer, or makes one.
func (m *bufferMemory) make(t *cuda.Thread, n cuda.Size) (*cuda.Pinned, error) {
	b := m.spares.get(n)
	if b == nil {
		return t.AllocPinnedFrom(m.host, n)
	}
	if err := b.Charge(m.host); err != nil {
		m.spares.put(b)
		return nil, err
	}
	return b, nil
}

// free gives the memory back, or makes it spare.
func (m *bufferMemory) free(b *cuda.Pinned) error {
	if m.spares == nil || m.context.Lost() != nil {
		return m.context.Closing(b.Close) // it is not used again
	}
	b.Discharge()
	m.spares.put(b)
	return nil
}
