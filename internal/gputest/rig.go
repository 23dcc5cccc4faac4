package gputest

import (
	"encoding/binary"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Rig is a device for a test, with a stream. What it makes is closed at the end of the test, and
// an error ends it.
type Rig struct {
	TB     testing.TB
	Thread *cuda.Thread
	Stream *cuda.Stream
}

// NewRig returns a rig on a thread that has a context of the device.
func NewRig(tb testing.TB, thread *cuda.Thread) *Rig {
	tb.Helper()
	return &Rig{TB: tb, Thread: thread, Stream: Keep(tb, thread.NewStream)}
}

// Load loads kernels.
func Load[T any](tb testing.TB, t *cuda.Thread, open func(*cuda.Thread) (T, error)) T {
	tb.Helper()
	return Make(tb, func() (T, error) { return open(t) })
}

// Words is device memory of n words of 32 bits, each set to v.
func (r *Rig) Words(n int, v uint32) cuda.Span {
	r.TB.Helper()
	span := Keep(r.TB, func() (*cuda.Memory, error) { return r.Thread.Alloc(cuda.Size(4 * n)) }).Span()
	r.Do(r.Stream.Fill32(span, v))
	return span
}

// Do ends the test at an error.
func (r *Rig) Do(err error) {
	r.TB.Helper()
	if err != nil {
		r.TB.Fatal(err)
	}
}

// Bytes waits for the stream and reads device memory.
func (r *Rig) Bytes(span cuda.Span) []byte {
	r.TB.Helper()
	r.Do(r.Stream.Synchronize())
	out := make([]byte, span.Size)
	r.Do(r.Thread.Read(out, span))
	return out
}

// Read waits for the stream and reads words of 32 bits.
func (r *Rig) Read(span cuda.Span) []uint32 {
	r.TB.Helper()
	raw := r.Bytes(span)
	out := make([]uint32, len(raw)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return out
}

// Write brings words of 32 bits to the device.
func (r *Rig) Write(values []uint32) cuda.Span {
	r.TB.Helper()
	span := r.Words(max(len(values), 1), 0)
	r.Do(r.Stream.Synchronize())
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, v)
	}
	r.Do(r.Thread.Write(span.Slice(0, cuda.Size(len(raw))), raw))
	return span
}

// Read64 waits for the stream and reads n words of 64 bits.
func (r *Rig) Read64(span cuda.Span, n int) []uint64 {
	r.TB.Helper()
	raw := r.Bytes(span.Slice(0, cuda.Size(8*n)))
	out := make([]uint64, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return out
}

// Write64 writes words of 64 bits.
func (r *Rig) Write64(span cuda.Span, words []uint64) {
	r.TB.Helper()
	r.Do(r.Thread.Write(span.Slice(0, cuda.Size(8*len(words))), Bytes64(words)))
}

// Bytes64 is words as bytes.
func Bytes64(words []uint64) []byte {
	raw := make([]byte, 0, 8*len(words))
	for _, w := range words {
		raw = binary.LittleEndian.AppendUint64(raw, w)
	}
	return raw
}

// Threads is a grid with a thread for each of n, and at least one block.
func Threads(n int) cuda.Grid {
	const block = 128
	return cuda.Grid{Blocks: uint32(max(n+block-1, block) / block), Threads: block}
}
