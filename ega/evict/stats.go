package evict

import (
	"sync"
	"time"
)

// Stats is what an Eviction has done.
type Stats struct {
	Pages     uint32 // of all lanes
	Evictions int    // how often pages had run out

	WrittenRows     uint64 // given to Write, groups of the table too
	WrittenBytes    uint64
	RetainedRows    uint64 // that stayed in pinned memory
	RetainedBytes   uint64
	RetainedBuffers int // of that memory

	LanesWait time.Duration // of all lanes, for pages whose rows had yet to leave
	// of evictors, until writers had emptied a buffer or a buffer was pinned
	EvictorsWait time.Duration
	Pinning      time.Duration // of buffers for retained rows, all goroutines together
}

// Stats may be called at any time.
func (e *Eviction) Stats() Stats {
	e.counts.mu.Lock()
	defer e.counts.mu.Unlock()
	s := e.counts.Stats
	row := uint64(e.row)
	s.WrittenBytes, s.RetainedBytes = s.WrittenRows*row, s.RetainedRows*row
	return s
}

// counts is the stats as goroutines add them up.
type counts struct {
	mu sync.Mutex
	Stats
}

func (c *counts) add(what func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what()
}

func (c *counts) pages(n uint32)    { c.add(func() { c.Pages += n }) }
func (c *counts) eviction()         { c.add(func() { c.Evictions++ }) }
func (c *counts) written(n uint64)  { c.add(func() { c.WrittenRows += n }) }
func (c *counts) retained(n uint64) { c.add(func() { c.RetainedRows += n; c.RetainedBuffers++ }) }

func (c *counts) pinned(from time.Time)        { c.add(func() { c.Pinning += time.Since(from) }) }
func (c *counts) laneWaited(from time.Time)    { c.add(func() { c.LanesWait += time.Since(from) }) }
func (c *counts) evictorWaited(from time.Time) { c.add(func() { c.EvictorsWait += time.Since(from) }) }
