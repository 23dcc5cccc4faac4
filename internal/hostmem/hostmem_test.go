package hostmem

import (
	"fmt"
	"math"
	"testing"
)

// sizes are bytes around all limits: of mappings, of huge pages, of pages.
var sizes = []int{
	8, 4096, mapFrom - 8, mapFrom, mapFrom + 8, hugeFrom / 2, hugeFrom - 8, hugeFrom, hugeFrom + 4096, 3*hugeFrom + 24,
}

// Buffers of all sizes are zero, of the length and capacity asked for and
// writable to their ends, also where freed memory is used again.
func TestMake(t *testing.T) {
	for range 2 {
		for _, size := range sizes {
			testMake[byte](t, size)
			testMake[uint32](t, size/4)
			testMake[uint64](t, size/8)
		}
		testMake[uint64](t, 0)
	}
}

func testMake[T Element](t *testing.T, n int) {
	t.Helper()
	s := Make[T](n)
	if len(s) != n || cap(s) != n {
		t.Fatalf("Make(%d) has %d elements and room for %d", n, len(s), cap(s))
	}
	fill(t, s, 0)
	Free(s)
}

// fill checks that elements are their index up to kept and zero from there
// on, and makes all their index.
func fill[T Element](t *testing.T, s []T, kept int) {
	t.Helper()
	for i, w := range s {
		if want := T(i); i < kept && w != want || i >= kept && w != 0 {
			t.Fatalf("element %d of %d is %d; %d are kept", i, len(s), w, kept)
		}
		s[i] = T(i)
	}
}

// Grow keeps what was there, adds zeros and yields whole buffers, from each
// size to each larger one.
func TestGrow(t *testing.T) {
	for i, from := range sizes {
		for _, to := range sizes[i+1:] {
			s := Make[uint32](from / 4)
			fill(t, s, 0)
			s = Grow(s[:1], to/4) // the length does not matter
			if len(s) != to/4 || cap(s) != to/4 {
				t.Fatalf("%d to %d bytes: %d elements, room for %d", from, to, len(s), cap(s))
			}
			fill(t, s, from/4)
			Free(s)
		}
	}
}

// A buffer grows step by step from nothing, as tables do.
func TestGrowFromNothing(t *testing.T) {
	var s []uint64
	for n := 1; n < 3*hugeFrom/8; n = n*3/2 + 1 {
		kept := len(s)
		s = Grow(s, n)
		fill(t, s, kept)
	}
	Free(s)
}

// Within its capacity a buffer stays where it is.
func TestGrowInPlace(t *testing.T) {
	s := Make[uint64](mapFrom)
	if g := Grow(s[:3], 7); &g[0] != &s[0] || len(g) != 7 || cap(g) != cap(s) {
		t.Errorf("moved, or %d elements with room for %d", len(g), cap(g))
	}
	Free(s)
	Free[uint64](nil)
}

// A length that no memory can have is the panic of make, not a small buffer
// behind a long slice.
func TestMakeTooLong(t *testing.T) {
	for _, n := range []int{-1, math.MaxInt/4 + 1 + 1<<20} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Make(%d) returned", n)
				}
			}()
			Make[uint64](n)
		}()
	}
}

func BenchmarkMakeTouchFree(b *testing.B) {
	for _, size := range []int{256 << 10, 1 << 20, 4 << 20, 64 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				s := Make[uint64](size / 8)
				for i := 0; i < len(s); i += 512 {
					s[i] = 1
				}
				Free(s)
			}
		})
	}
}

func BenchmarkGrow(b *testing.B) {
	for _, size := range []int{512 << 10, 8 << 20, 64 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := Make[uint64](size / 16)
				for i := range s {
					s[i] = 1
				}
				b.StartTimer()
				s = Grow(s, size/8)
				b.StopTimer()
				Free(s)
				b.StartTimer()
			}
		})
	}
}
