package gpumem_test

import (
	"encoding/binary"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// rig is a device. What it makes is closed at the end of the test.
type rig struct {
	tb     testing.TB
	thread *cuda.Thread
	stream *cuda.Stream
}

func load[T any](tb testing.TB, t *cuda.Thread, open func(*cuda.Thread) (T, error)) T {
	tb.Helper()
	return gputest.Make(tb, func() (T, error) { return open(t) })
}

// words is device memory of n words of 32 bits, each set to v.
func (r *rig) words(n int, v uint32) cuda.Span {
	r.tb.Helper()
	span := gputest.Keep(r.tb, func() (*cuda.Memory, error) { return r.thread.Alloc(cuda.Size(4 * n)) }).Span()
	r.do(r.stream.Fill32(span, v))
	return span
}

// do ends the test at an error.
func (r *rig) do(err error) {
	r.tb.Helper()
	if err != nil {
		r.tb.Fatal(err)
	}
}

// bytes waits for the stream and reads device memory.
func (r *rig) bytes(span cuda.Span) []byte {
	r.tb.Helper()
	r.do(r.stream.Synchronize())
	out := make([]byte, span.Size)
	r.do(r.thread.Read(out, span))
	return out
}

// read waits for the stream and reads words of 32 bits.
func (r *rig) read(span cuda.Span) []uint32 {
	r.tb.Helper()
	raw := r.bytes(span)
	out := make([]uint32, len(raw)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return out
}

// write brings words of 32 bits to the device.
func (r *rig) write(values []uint32) cuda.Span {
	r.tb.Helper()
	span := r.words(max(len(values), 1), 0)
	r.do(r.stream.Synchronize())
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, v)
	}
	r.do(r.thread.Write(span.Slice(0, cuda.Size(len(raw))), raw))
	return span
}

// threads is a grid with a thread for each of n, and at least one warp.
func threads(n int) cuda.Grid {
	const block = 128
	return cuda.Grid{Blocks: uint32(max(n+block-1, block) / block), Threads: block}
}
