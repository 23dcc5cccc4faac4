// Package pinned allocates pinned memory, or less where the memory is short.
package pinned

import (
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// Least is the smallest buffer that is worth copies of its own where memory is short: a copy takes
// 6 µs however small it is, and 64 KiB cross in 1.3 µs. Half as much would take nearly twice as
// long.
const Least = 64 << 10

// AllocLess allocates n bytes of pinned memory or, where the lender or the system refuses that, a
// half of it, a quarter and so on; least bytes at least, if n is not below that already.
func AllocLess(t *cuda.Thread, from budget.Lender, n, least cuda.Size) (*cuda.Pinned, error) {
	for {
		b, err := t.AllocPinnedFrom(from, n)
		if err == nil || t.Context().Lost() != nil || n <= least {
			return b, err
		}
		n = max(n/2, least)
	}
}
