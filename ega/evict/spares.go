package evict

import (
	"errors"
	"sync"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Spares is pinned buffers that passes in one context leave to those after them: a process that has
// retained rows before need not pin memory again, which takes as long as the rows take to cross.
// Nobody's budget counts what is spare. It may be used by several passes at once.
type Spares struct {
	mu   sync.Mutex
	list []*cuda.Pinned
}

// get removes a buffer of exactly n bytes; nil: there is none.
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

// Close frees them. The passes have been closed, and their Rows.
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
