package streams

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// staging is host memory that copies come from or go to.
type staging struct {
	bytes  []byte
	pinned *cuda.Pinned // nil: pageable, made by hostmem
}

// pin makes staging of n bytes within the budget.
func (p *Pipeline) pin(t *cuda.Thread, n int) (staging, error) {
	if n == 0 {
		return staging{}, nil
	}
	m, err := t.AllocPinnedFrom(p.host, cuda.Size(n))
	if err != nil {
		return staging{}, err
	}
	return staging{m.Bytes(), m}, nil
}

// pageable makes staging of n bytes that is not pinned.
func (p *Pipeline) pageable(n int) (staging, error) {
	if err := p.host.Draw(int64(n)); err != nil {
		return staging{}, err
	}
	return staging{bytes: hostmem.Make[byte](n)}, nil
}

// free frees m; what a lost context has pinned stays, and stays counted.
func (p *Pipeline) free(m staging) error {
	if m.pinned == nil {
		hostmem.Free(m.bytes)
		p.host.Release(int64(len(m.bytes)))
		return nil
	}
	return m.pinned.Close()
}

// refused reports whether err says that there is no room, by a budget or by the
// system, so that less will do.
func refused(err error) bool {
	return errors.As(err, new(*budget.Error)) || errors.Is(err, cuda.ErrOutOfMemory)
}
