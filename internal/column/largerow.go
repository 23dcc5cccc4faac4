package column

import (
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// LargeRow is the memory of one row of a result that is too large for a batch. It spans the
// vectors in which the row is made and the record that it becomes. The memory is reserved in a
// budget as it is filled, lies off the Go heap, and is given back when the record is released.
// The bytes of strings and 64-bit numbers, which vectors hold as Arrow does, become part of the
// record without a copy.
//
//  1. Make gives a vector the capacity for all that may come, which costs nothing until it is
//     touched. Fits reserves what the vector holds, and Settle ends it.
//  2. Reserve reserves what ToArrow, with the LargeRow as its allocator, allocates beside what it
//     takes over.
//  3. Done frees what ToArrow did not take over.
//
// One goroutine goes through these steps. Any goroutine may release the record, even before Done.
type LargeRow struct {
	from    budget.Lender
	settled int64 // bytes of vectors that are complete

	mu    sync.Mutex
	drawn int64
	live  map[*byte]*largePart // by their first byte
	done  bool
}

// largePart is a buffer that was not freed.
type largePart struct {
	memory []byte
	used   int64          // bytes of the record in it
	buffer *memory.Buffer // of a vector that ToArrow has taken over; else nil
	record bool           // it is the record's, which frees it
}

var _ memory.Allocator = (*LargeRow)(nil)

// NewLargeRow returns memory that is drawn from a lender.
func NewLargeRow(from budget.Lender) *LargeRow {
	return &LargeRow{from: from, live: map[*byte]*largePart{}}
}

const (
	// drawStep is how much is drawn at a time, if the budget allows it.
	drawStep = 1 << 20
	// Large buffers are made of pages of 2 MiB: see package hostmem.
	roundedFrom, roundUp = 4 << 20, 2 << 20
)

// Make gives v, which is to be of type t, memory for elems values or elements of a list, and for
// bytes of strings.
func (l *LargeRow) Make(v *Vector, t Type, elems, bytes int) error {
	*v = Vector{Type: t}
	switch {
	case !t.IsNested():
		v.Span, v.Data = make([]Span, 0, 1), partOf[byte](l, bytes+SpanPadding)
		return l.rounded(bytes)
	case t.Nest == Map:
		v.Counts = partOf[int64](l, elems)
	}
	e := &Vector{Type: t.Elem()}
	v.Span, v.Elem = make([]Span, 0, 1), e
	switch e.Type.Rep() {
	case RepInt64:
		e.Int = partOf[int64](l, elems)
	case RepFloat64:
		e.Float = partOf[float64](l, elems)
	case RepWide:
		e.Wide = partOf[decimal256.Num](l, elems)
	case RepBytes:
		e.Span, e.Data = partOf[Span](l, elems), partOf[byte](l, bytes+SpanPadding)
	}
	return l.rounded(bytes, 8*elems, 8*elems)
}

// rounded draws the memory by which buffers of these sizes are rounded up.
func (l *LargeRow) rounded(sizes ...int) error {
	for _, n := range sizes {
		if n >= roundedFrom {
			l.settled += roundUp
		}
	}
	return l.Fits(0)
}

func partOf[T any](l *LargeRow, n int) []T {
	b := l.make(n*int(unsafe.Sizeof(*new(T))), largePart{})
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)[:0]
}

// leastPart is the least memory of a part. No element is larger, so even a slice of no elements
// lies within the part.
const leastPart = int(unsafe.Sizeof(decimal256.Num{}))

func (l *LargeRow) make(bytes int, p largePart) []byte {
	p.memory = hostmem.Make[byte](max(bytes, leastPart))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[&p.memory[0]] = &p
	return p.memory[:bytes]
}

// Fits draws the bytes of the complete vectors and that many more, as far as they are not drawn
// yet.
func (l *LargeRow) Fits(bytes int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	need := l.settled + bytes - l.drawn
	if need <= 0 {
		return nil
	}
	if l.from.Draw(need+drawStep) == nil {
		l.drawn += need + drawStep
		return nil
	}
	if err := l.from.Draw(need); err != nil {
		return err
	}
	l.drawn += need
	return nil
}

// Settle ends a vector that holds that many bytes.
func (l *LargeRow) Settle(bytes int64) { l.settled += bytes }

// Reserve draws bytes that ToArrow allocates next.
func (l *LargeRow) Reserve(bytes int64) error {
	err := l.Fits(bytes)
	l.settled += bytes
	return err
}

// Beside is how many bytes ToArrow allocates for the row v beside the memory that it takes over.
func (l *LargeRow) Beside(v *Vector) int64 {
	const small = 4 << 10 // NULL bits, offsets of a row, and what is rounded
	flat := Flatten(v, &Buffer{})
	if !v.Type.IsNested() {
		return small + l.besideValues(&flat)
	}
	if flat.Elem == nil {
		return small
	}
	n := small + l.besideValues(flat.Elem)
	if v.Type.Nest == Map && !l.owns(bytesOf(flat.Counts)) {
		n += 8 * int64(len(flat.Counts))
	}
	return n
}

func (l *LargeRow) besideValues(v *Vector) (n int64) {
	switch v.Type.Rep() {
	case RepWide:
		return 32 * int64(v.Len)
	case RepFloat64:
		if v.Type.Kind == Float64 && l.owns(bytesOf(v.Float)) {
			return 0
		}
	case RepInt64:
		if v.Type.Kind != Decimal && v.Type.Kind != Time && v.Type.Bits() == 64 && l.owns(bytesOf(v.Int)) {
			return 0
		}
		return 16 * int64(v.Len)
	case RepBytes:
		if !l.owns(v.Data) {
			for _, s := range v.Span[:v.Len] {
				n += int64(s.Len)
			}
		}
	}
	return n + 8*int64(v.Len)
}

func (l *LargeRow) owns(b []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live[unsafe.SliceData(b)] != nil
}

// Allocate is part of the allocator of a record.
func (l *LargeRow) Allocate(size int) []byte {
	return l.make(size, largePart{used: int64(size), record: true})
}

// Reallocate is part of the allocator of a record.
func (l *LargeRow) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	grown := l.Allocate(size)
	copy(grown, b)
	l.Free(b)
	return grown
}

// Free is part of the allocator of a record.
func (l *LargeRow) Free(b []byte) {
	if cap(b) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	first := unsafe.SliceData(b)
	hostmem.Free(l.live[first].memory)
	delete(l.live, first)
	l.settle()
}

// bufferOf makes the memory of a vector, which begins at b, a buffer of the record; nil if it is
// not part of l.
func (l *LargeRow) bufferOf(b []byte) *memory.Buffer {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.live[unsafe.SliceData(b)]
	switch {
	case p == nil || p.buffer == nil && p.record:
		return nil
	case p.buffer != nil: // two columns are one
		p.buffer.Retain()
		return p.buffer
	}
	p.record, p.used, p.buffer = true, int64(len(b)), memory.NewBufferWithAllocator(b, l)
	return p.buffer
}

// Done says that no other vector becomes part of the record. The vectors that are left must not
// be used any more.
func (l *LargeRow) Done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	for first, p := range l.live {
		if !p.record {
			hostmem.Free(p.memory)
			delete(l.live, first)
		}
	}
	l.settle()
}

// settle gives back the bytes that are drawn but no longer needed.
func (l *LargeRow) settle() {
	if !l.done {
		return
	}
	keep := int64(0)
	for _, p := range l.live {
		if keep += p.used; len(p.memory) >= roundedFrom {
			keep += roundUp
		}
	}
	if less := l.drawn - keep; less > 0 {
		l.from.Release(less)
		l.drawn = keep
	}
}
