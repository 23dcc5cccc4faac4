package streams

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// budget draws from what the caller allows; nil allows all.
type budget func(bytes int64) error

func (b budget) take(n int) error {
	if b == nil || n == 0 {
		return nil
	}
	return b(int64(n))
}

func (b budget) give(n int) {
	if b != nil && n != 0 {
		_ = b(-int64(n)) // only asking for more can fail
	}
}

// staging is host memory that copies come from or go to.
type staging struct {
	bytes  []byte
	pinned *cuda.Pinned // nil: pageable, made by hostmem
}

// pin makes staging of n bytes, and with them asks the budget.
func (p *Pipeline) pin(t *cuda.Thread, n int) (staging, error) {
	if n == 0 {
		return staging{}, nil
	}
	if err := p.host.take(n); err != nil {
		return staging{}, &refusedError{err}
	}
	m, err := t.AllocPinned(cuda.Size(n))
	if err != nil {
		if p.context.Lost() == nil { // else it may stay pinned, as in free
			p.host.give(n)
		}
		return staging{}, err
	}
	return staging{m.Bytes(), m}, nil
}

// pageable makes staging of n bytes that is not pinned.
func (p *Pipeline) pageable(n int) (staging, error) {
	if err := p.host.take(n); err != nil {
		return staging{}, &refusedError{err}
	}
	return staging{bytes: hostmem.Make[byte](n)}, nil
}

// free frees m; what a lost context has pinned stays, and stays counted.
func (p *Pipeline) free(m staging) error {
	if m.pinned == nil {
		hostmem.Free(m.bytes)
		p.host.give(len(m.bytes))
		return nil
	}
	n := len(m.bytes)
	err := m.pinned.Close()
	if p.context.Lost() == nil {
		p.host.give(n)
	}
	return err
}

// refusedError is a budget's refusal.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// refused reports whether err says that there is no room, by a budget or by the
// system, so that less will do.
func refused(err error) bool {
	var r *refusedError
	return errors.As(err, &r) || errors.Is(err, cuda.ErrOutOfMemory)
}
