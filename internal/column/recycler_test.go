package column

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// Each size has a class whose buffers are large enough and an eighth larger at
// most, and larger sizes have no lesser class.
func TestRecyclerClasses(t *testing.T) {
	t.Parallel()
	last := 0
	for size := leastRecycled; size <= mostRecycled; size += 1 + size/1000 {
		number, bytes, ok := class(size)
		if !ok || number < last || number > last+1 || number >= recycleClasses || bytes < size || bytes > size+size/8 {
			t.Fatalf("%d bytes: class %d of %d bytes, %t; the class before was %d", size, number, bytes, ok, last)
		}
		if n, b, _ := class(bytes); n != number || b != bytes {
			t.Fatalf("%d bytes: class %d of %d bytes, of class %d themselves", size, number, bytes, n)
		}
		last = number
	}
	if number, bytes, _ := class(mostRecycled); number != recycleClasses-1 || bytes != mostRecycled {
		t.Fatalf("the last class is %d, of %d bytes", number, bytes)
	}
	for _, size := range []int{0, leastRecycled - 1, mostRecycled + 1} {
		if _, _, ok := class(size); ok {
			t.Errorf("%d bytes have a class", size)
		}
	}
}

// A released buffer serves the next of its size, unless too much would be kept.
func TestRecyclerKeeps(t *testing.T) {
	t.Parallel()
	r := NewRecycler(10_000)
	a := r.Allocate(4000)
	if len(a) != 4000 || uintptr(unsafe.Pointer(&a[0]))%bufferAlign != 0 {
		t.Fatalf("%d bytes at %p", len(a), &a[0])
	}
	r.Free(a)
	b := r.Allocate(3999)
	if &a[0] != &b[0] {
		t.Error("a released buffer was not used again")
	}
	copy(b, "first")
	c := r.Reallocate(9000, b)
	if len(c) != 9000 || string(c[:5]) != "first" {
		t.Errorf("reallocated: %d bytes, %q", len(c), c[:5])
	}
	if r.kept > r.most-r.live {
		t.Errorf("%d bytes are kept beside %d", r.kept, r.live)
	}
	d := r.Allocate(8000)
	r.Free(c)
	r.Free(d)
	if r.live != 0 || r.kept > r.most {
		t.Errorf("%d bytes are out and %d kept", r.live, r.kept)
	}
}

// No two of several goroutines have the same buffer.
func TestRecyclerTogether(t *testing.T) {
	t.Parallel()
	r := NewRecycler(1 << 20)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 2000 {
				buf := r.Allocate(600 + i%7*300)
				for k := range buf {
					buf[k] = byte(g)
				}
				for k := range buf {
					if buf[k] != byte(g) {
						t.Errorf("goroutine %d has a byte of %d", g, buf[k])
						return
					}
				}
				r.Free(buf)
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	if r.live != 0 {
		t.Errorf("%d bytes are still out", r.live)
	}
}
