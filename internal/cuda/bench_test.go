package cuda_test

import (
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// BenchmarkLaunch is what a launch costs the goroutine: of many into a stream,
// and of one that is waited for.
func BenchmarkLaunch(b *testing.B) {
	thread := gputest.Open(b)
	s := newStream(b, thread)
	empty, err := kerneltest.LoadEmpty(thread)
	must(b, err)
	grid := cuda.Grid{Blocks: 1, Threads: 32}
	for b.Loop() {
		must(b, empty.Launch(s, grid))
	}
	must(b, s.Synchronize())
}

// BenchmarkLaunchSynchronize is a launch and the wait for its end.
func BenchmarkLaunchSynchronize(b *testing.B) {
	thread := gputest.Open(b)
	s := newStream(b, thread)
	empty, err := kerneltest.LoadEmpty(thread)
	must(b, err)
	grid := cuda.Grid{Blocks: 1, Threads: 32}
	for b.Loop() {
		must(b, empty.Launch(s, grid), s.Synchronize())
	}
}

// BenchmarkCopy is the rate of copies between pinned memory and the device, each
// waited for.
func BenchmarkCopy(b *testing.B) {
	largest := cuda.Size(256 << 20)
	if gputest.Emulated() {
		largest = 1 << 20
	}
	for _, size := range []cuda.Size{4 << 10, 256 << 10, 8 << 20, 256 << 20} {
		for _, out := range []bool{false, true} {
			if size > largest {
				continue
			}
			b.Run(fmt.Sprintf("bytes=%d/out=%v", uint64(size), out), func(b *testing.B) { benchmarkCopy(b, size, out) })
		}
	}
}

func benchmarkCopy(b *testing.B, size cuda.Size, out bool) {
	thread := gputest.Open(b)
	s := newStream(b, thread)
	memory, pinned := alloc(b, thread, size), allocPinned(b, thread, size)
	b.SetBytes(int64(size))
	for b.Loop() {
		if out {
			must(b, s.CopyOut(pinned.Span(0, size), memory), s.Synchronize())
		} else {
			must(b, s.CopyIn(memory, pinned.Span(0, size)), s.Synchronize())
		}
	}
}
