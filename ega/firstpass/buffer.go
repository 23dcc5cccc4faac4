package firstpass

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// keptBuffer is a pinned buffer of kept rows. It is its sender's, then the pass's, then a Kept's; its memory is given back when the
// last span is done with.
type keptBuffer struct {
	of     *keptMemory
	pinned *cuda.Pinned
	spans  []KeptSpan
	left   atomic.Int32 // spans that are not done with
	gone   atomic.Bool  // the memory was given back
}

// note adds n bytes of a chain, from byte `from` on: the chain of all rows whose hashes begin with the top bits of start.
func (b *keptBuffer) note(start uint64, bits uint, from, n cuda.Size) {
	if last := len(b.spans) - 1; last >= 0 && b.spans[last].start == start && b.spans[last].bits == bits && b.spans[last].end == from {
		b.spans[last].end += n
		return
	}
	b.spans = append(b.spans, KeptSpan{buffer: b, start: start, bits: bits, from: from, end: from + n})
}

// free gives the memory back, once.
func (b *keptBuffer) free() error {
	if b.gone.Swap(true) {
		return nil
	}
	return b.of.free(b.pinned)
}

// KeptSpan is kept rows of one chain that lie side by side.
type KeptSpan struct {
	buffer    *keptBuffer
	start     uint64 // the least hash that the chain may have
	bits      uint   // all have its top bits
	from, end cuda.Size
}

// Pinned is the rows for a copy to the device, of whichever context. They may be read and written until Done.
func (s *KeptSpan) Pinned() cuda.PinnedSpan { return s.buffer.pinned.Span(s.from, s.end) }

// Rows is the same as words.
func (s *KeptSpan) Rows() []uint64 { return s.Pinned().Words() }

// Done is called once, when neither the device nor the host needs the rows any more. It may be called on any goroutine. With the
// last span of a buffer the memory is given back; the error is of that.
func (s *KeptSpan) Done() error {
	if s.buffer.left.Add(-1) > 0 {
		return nil
	}
	return s.buffer.free()
}

// keptMemory is where the memory of kept rows comes from, and goes to.
type keptMemory struct {
	context *cuda.Context
	host    budget.Lender // nil: there is no limit
	spares  *Spares       // may be nil
}

// make makes a buffer, or takes one that is spare.
func (m *keptMemory) make(t *cuda.Thread, n cuda.Size) (*cuda.Pinned, error) {
	b := m.spares.take(n)
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
func (m *keptMemory) free(b *cuda.Pinned) error {
	if m.spares == nil || m.context.Lost() != nil {
		return m.context.Closing(b.Close) // whoever is done with it
	}
	b.Discharge()
	m.spares.put(b)
	return nil
}

// Spares is pinned buffers that passes in one context leave to those after them: a process that has kept rows before need not pin
// memory again, which takes as long as the rows take to cross. Nobody's budget counts what is spare. It may be used by several
// passes at once.
type Spares struct {
	mu   sync.Mutex
	list []*cuda.Pinned
}

// take is one of just so many bytes; nil: there is none.
func (s *Spares) take(n cuda.Size) *cuda.Pinned {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, b := range s.list {
		if last := len(s.list) - 1; b.Device().Size == n {
			s.list[i] = s.list[last]
			s.list = s.list[:last]
			return b
		}
	}
	return nil
}

func (s *Spares) put(b *cuda.Pinned) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, b)
}

// Close frees them. The passes have been closed, and their Kept.
func (s *Spares) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, b := range s.list {
		errs = append(errs, b.Close())
	}
	s.list = nil
	return errors.Join(errs...)
}
