package column

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// Recycler is an Arrow allocator that uses buffers again: a buffer that is released serves the
// next record. So a long result takes the memory of the few records that wait, and causes no
// garbage collections. Several goroutines may use it.
//
// The buffers are Go memory. The garbage collector frees those of records that are never released,
// and all others together with the Recycler.
//
// RECYCLED: a buffer that was released has the bytes of another record, or will have them. Under
// -tags invariant its bytes are spoiled at once.
type Recycler struct {
	most int64 // bytes: see NewRecycler

	mu   sync.Mutex
	live int64 // bytes given out
	kept int64 // bytes in free
	free [recycleClasses][][]byte
}

// NewRecycler returns an allocator that keeps nothing beyond most bytes, those
// given out included.
func NewRecycler(most int64) *Recycler { return &Recycler{most: most} }

var _ memory.Allocator = (*Recycler)(nil)

// Buffers have sizes of a few classes, eight from each power of two to the next: batches have
// similar sizes, and at most an eighth of a buffer is lost. Buffers of other sizes are too small
// to be worth keeping, or too large.
const (
	recycleShift   = 3 // 2^3 classes to a power of two
	leastRecycled  = 512
	mostRecycled   = 16 << 20
	recycleClasses = (24-9)<<recycleShift + 1
	bufferAlign    = 64 // as Arrow recommends
)

// class is the class of buffers of at least size bytes, and their size; false
// if there is none.
func class(size int) (number, bytes int, ok bool) {
	if size < leastRecycled || size > mostRecycled {
		return 0, size, false
	}
	step := bits.Len(uint(size-1)) - 1 - recycleShift // bits below those that tell classes apart
	up := (size - 1) >> step                          // 2^recycleShift <= up < 2^(recycleShift+1)
	return (step-6)<<recycleShift + up - 1<<recycleShift + 1, (up + 1) << step, true
}

// Allocate returns size bytes with undefined contents.
func (r *Recycler) Allocate(size int) []byte {
	number, bytes, ok := class(size)
	if !ok {
		return aligned(size)[:size:size]
	}
	r.mu.Lock()
	list := r.free[number]
	r.live += int64(bytes)
	if n := len(list); n > 0 {
		buf := list[n-1]
		r.free[number] = list[:n-1]
		r.kept -= int64(bytes)
		r.mu.Unlock()
		return buf[:size]
	}
	if r.live+r.kept > r.most {
		r.drop()
	}
	r.mu.Unlock()
	return aligned(bytes)[:size:bytes]
}

// drop leaves the free buffers to the garbage collector, because other sizes are wanted.
func (r *Recycler) drop() {
	for i := range r.free {
		r.free[i] = nil
	}
	r.kept = 0
}

// Reallocate returns size bytes that begin as b does. b must not be used any more.
func (r *Recycler) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	buf := r.Allocate(size)
	copy(buf, b)
	r.Free(b)
	return buf
}

// Free takes back a buffer of Allocate or Reallocate.
func (r *Recycler) Free(b []byte) {
	b = b[:cap(b)]
	if invariant.Enabled { // RECYCLED
		for i := range b {
			b[i] = 0xdb
		}
	}
	number, bytes, ok := class(len(b))
	if !ok || bytes != len(b) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live -= int64(bytes)
	if r.live+r.kept+int64(bytes) <= r.most {
		r.kept += int64(bytes)
		r.free[number] = append(r.free[number], b)
	}
}

// aligned makes n bytes with the alignment that Arrow wants.
func aligned(n int) []byte {
	buf := make([]byte, n+bufferAlign)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(buf)))) & (bufferAlign - 1)
	return buf[skip : skip+n : skip+n]
}
