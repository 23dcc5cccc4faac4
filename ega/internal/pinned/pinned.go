// Package pinned allocates pinned memory within a budget.
package pinned

import "github.com/gagg-dev/gagg/internal/cuda"

// Alloc allocates pinned memory within a budget, which may be nil. Should the context be lost meanwhile the memory may stay
// pinned, and stays counted.
func Alloc(t *cuda.Thread, budget func(int64) error, n cuda.Size) (*cuda.Pinned, error) {
	if budget != nil {
		if err := budget(int64(n)); err != nil {
			return nil, err
		}
	}
	b, err := t.AllocPinned(n)
	if err != nil && budget != nil && t.Context().Lost() == nil {
		_ = budget(-int64(n)) // only asking for more can fail
	}
	return b, err
}

// Least is the smallest buffer that is worth copies of its own where memory is short. A guess.
const Least = 64 << 10

// AllocLess allocates n bytes of pinned memory or, where the budget or the system refuses that, a half of it, a quarter
// and so on; least bytes at least, if n is not below that already.
func AllocLess(t *cuda.Thread, budget func(int64) error, n, least cuda.Size) (*cuda.Pinned, error) {
	for {
		b, err := Alloc(t, budget, n)
		if err == nil || t.Context().Lost() != nil || n <= least {
			return b, err
		}
		n = max(n/2, least)
	}
}

// Free frees it. What a lost context has pinned stays, and stays counted.
func Free(c *cuda.Context, budget func(int64) error, b *cuda.Pinned) error {
	n := int64(b.Device().Size)
	err := b.Close()
	if budget != nil && c.Lost() == nil {
		_ = budget(-n)
	}
	return err
}
