package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/sink"
)

// collector is what the runtime goes by now.
func collector() (percent, limit, collections uint64) {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64()
}

// A short run is over before the heap is collected for the first time: to be told of the share
// takes no collection. After each one the heap may grow by half of the garbage, and by a tenth.
func TestGarbageOfARun(t *testing.T) {
	for _, limit := range []int64{0, 64 * mib, 20 << 30} {
		s := shareOf(limit, outputForm{format: sink.CSV})
		debug.FreeOSMemory() // of other tests, by which the process may be above the limit
		was, wasLimit, before := collector()
		undo := s.limitRuntime()
		percent, last, after := collector()
		if after != before || percent != uint64(s.Garbage/2*100/leastHeap) || limit > 0 && last != uint64(limit-programBytes/2) {
			t.Errorf("limit %d: %d collections at the beginning, with %d percent and %d bytes", limit, after-before, percent, last)
		}
		for _, size := range []int{1 << 10, 160 << 20, 20 << 20} {
			kept := make([]byte, size)
			most := uint64(s.Garbage/2*100/int64(max(size, leastHeap)) + gcPercent)
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
				runtime.GC() // more than one, for the arrays of before to be gone
				if percent, _, _ = collector(); percent > most*7/10 && percent <= most {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("limit %d: %d percent of a heap of %d bytes, want %d", limit, percent, size, most)
				}
			}
			runtime.KeepAlive(kept)
		}
		undo()
		if percent, last, _ := collector(); percent != was || last != wasLimit {
			t.Errorf("limit %d: %d percent and %d bytes are left", limit, percent, last)
		}
	}
}

// A collection after the end of a run changes nothing.
func TestGarbageOfARunThatIsOver(t *testing.T) {
	h := &heapShare{share: shareOf(1<<30, outputForm{format: sink.CSV}), percent: debug.SetGCPercent(100), limit: debug.SetMemoryLimit(-1)}
	debug.SetGCPercent(h.percent)
	h.undo()
	h.collected()
	if percent, limit, _ := collector(); percent != uint64(h.percent) || limit != uint64(h.limit) {
		t.Errorf("%d percent, %d bytes", percent, limit)
	}
}
