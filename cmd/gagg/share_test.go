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

// A short run is over before the heap is collected for the first time: to be told of the share takes no collection.
// From the first one on the heap may grow by half of the garbage.
func TestGarbageOfARun(t *testing.T) {
	for _, limit := range []int64{0, 64 * mib, 20 << 30} {
		s := shareOf(limit, sink.CSV, false)
		was, wasLimit, before := collector()
		undo := s.limitRuntime()
		percent, _, after := collector()
		if after != before || percent != uint64(s.Garbage/2*100/leastHeap) {
			t.Errorf("limit %d: %d collections at the beginning, with %d percent", limit, after-before, percent)
		}
		runtime.GC()
		for end := time.Now().Add(20 * time.Second); percent != gcPercent && time.Now().Before(end); time.Sleep(time.Millisecond) {
			percent, _, _ = collector()
		}
		_, last, _ := collector()
		if ballast := uint64(s.Garbage / 2 * 100 / gcPercent); percent != gcPercent || limit > 0 && last != uint64(limit-programBytes/2)+ballast {
			t.Errorf("limit %d: %d percent and %d bytes after a collection", limit, percent, last)
		}
		undo()
		if percent, last, _ := collector(); percent != was || last != wasLimit {
			t.Errorf("limit %d: %d percent and %d bytes are left", limit, percent, last)
		}
	}
}

// What was undone before the first collection is not begun by it.
func TestGarbageOfARunThatIsOver(t *testing.T) {
	h := &heapShare{share: shareOf(1<<30, sink.CSV, false), percent: debug.SetGCPercent(100), limit: debug.SetMemoryLimit(-1)}
	debug.SetGCPercent(h.percent)
	h.undo()
	h.collected()
	if percent, limit, _ := collector(); percent != uint64(h.percent) || limit != uint64(h.limit) || h.ballast != nil {
		t.Errorf("%d percent, %d bytes, a ballast of %d", percent, limit, len(h.ballast))
	}
}
