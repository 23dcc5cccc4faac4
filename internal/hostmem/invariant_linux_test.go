//go:build invariant && !race

package hostmem

import (
	"runtime/debug"
	"testing"
)

// Under -tags invariant each way to break MADE-FREED is found, for small
// buffers and for large ones, also when another buffer was made since.
func TestMistakesAreFound(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, size := range sizes {
		n := size / 8
		for _, x := range []struct {
			why     string
			mistake func(s []uint64)
		}{
			{"used after Free", func(s []uint64) { Free(s); Make[uint64](n); s[0]++ }},
			{"used after Grow", func(s []uint64) { Grow(s, 2*n); s[0]++ }},
			{"freed twice", func(s []uint64) { Free(s); Make[uint64](n); Free(s) }},
			{"freed without its end", func(s []uint64) { Free(s[: n-1 : n-1]) }},
			{"a part beginning later is freed", func(s []uint64) { Free(Grow(s, n+1)[1:]) }},
			{"no buffer is freed", func([]uint64) { Free(make([]uint64, n)) }},
			{"a part is grown", func(s []uint64) { Grow(Grow(s, n+2)[1:], n+3) }},
			{"grown after Free", func(s []uint64) { Free(s); Grow(s, 2*n) }},
		} {
			if size == 8 && x.why == "freed without its end" {
				continue // it would have no capacity: nothing to free
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%d bytes: %s: not found", size, x.why)
					}
				}()
				x.mistake(Make[uint64](n))
			}()
		}
	}
}
