package evict

import (
	"errors"
	"sync"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Spares holds pinned buffers that passes in one context leave to later passes. So a process that
// has retained rows before need not pin memory again, which takes as long as the copy of the rows.
// No budget counts spare buffers. Several passes may use Spares at once.
type Spares struct {
	mu   sync.Mutex
	list []*cuda.Pinned
}

// get removes and returns a buffer of exactly n bytes; nil: there is none.
func (s *Spares) get(n cuda.Size) *cuda.Pinned {
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

// Close frees the buffers. The passes and their Rows must have been closed.
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
