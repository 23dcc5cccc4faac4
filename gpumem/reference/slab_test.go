package reference_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// slabShapes are small pools: of one memory block, of a number that is no power
// of two, of several super blocks, with larger slabs.
var slabShapes = []reference.SlabConfig{
	{SlabBytes: 128, Blocks: 1, SuperBlocks: 1},
	{SlabBytes: 128, Blocks: 3, SuperBlocks: 1, Seed: 7},
	{SlabBytes: 256, Blocks: 2, SuperBlocks: 3, Tries: 1},
	{SlabBytes: 4096, Blocks: 1, SuperBlocks: 2, Seed: 1 << 31},
}

func slabName(c reference.SlabConfig) string {
	return fmt.Sprintf("bytes=%d/blocks=%d/supers=%d", c.SlabBytes, c.Blocks, c.SuperBlocks)
}

func TestSlabConfig(t *testing.T) {
	good := reference.SlabConfig{SlabBytes: 128, Blocks: 1, SuperBlocks: 1}
	if err := good.Validate(); err != nil {
		t.Errorf("%+v: %v", good, err)
	}
	for name, spoil := range map[string]func(*reference.SlabConfig){
		"slab bytes: 64":       func(c *reference.SlabConfig) { c.SlabBytes = 64 },
		"slab bytes: 384":      func(c *reference.SlabConfig) { c.SlabBytes = 384 },
		"slab bytes: 0":        func(c *reference.SlabConfig) { c.SlabBytes = 0 },
		"slab bytes: 42949672": func(c *reference.SlabConfig) { c.SlabBytes = 1 << 32 },
		"memory blocks: 0":     func(c *reference.SlabConfig) { c.Blocks = 0 },
		"memory blocks: 16385": func(c *reference.SlabConfig) { c.Blocks = reference.MaxSlabBlocks + 1 },
		"super blocks: 0":      func(c *reference.SlabConfig) { c.SuperBlocks = 0 },
		"super blocks: 65":     func(c *reference.SlabConfig) { c.SuperBlocks = uint32(reference.MaxSuperBlocks) + 1 },
	} {
		c := good
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: Validate says %v", name, err)
		}
	}
	if err := (reference.SlabConfig{}).Validate(); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("an empty configuration has three faults, Validate says %v", err)
	}
}

// No slab is handed out twice and none is lost (SLAB-ONCE), with fewer requests
// than slabs, as many, and more; freed slabs come back.
func TestSlabsOnce(t *testing.T) {
	for _, shape := range slabShapes {
		for _, spread := range []uint32{0, 1} {
			t.Run(fmt.Sprintf("%s/spread=%d", slabName(shape), spread), func(t *testing.T) {
				r := newSlabRig(t)
				s := r.slabs(shape)
				capacity := int(s.Capacity())
				for _, n := range []int{1, 31, 32, 33, 1000, capacity, capacity + 333} {
					got := r.allocate(s, n, spread)
					want := min(n, capacity)
					if d := r.distinct(s, got); d != want {
						t.Fatalf("n=%d: %d slabs, want %d", n, d, want)
					}
					r.used(s, want)
					r.free(s, got[:n/2])
					r.used(s, want-r.distinct(s, got[:n/2]))
					r.free(s, got[n/2:])
					r.used(s, 0)
				}
			})
		}
	}
}

// A get reports out of memory only if all slabs are taken, with few slabs free or many, wherever
// they lie.
func TestSlabsShare(t *testing.T) {
	r := newSlabRig(t)
	s := r.slabs(reference.SlabConfig{SlabBytes: 128, Blocks: 7, SuperBlocks: 3, Tries: 4})
	capacity := int(s.Capacity())
	for _, permille := range []uint64{500, 100, 10, 5, 1, 0} { // of the slabs are free
		r.Do(r.bench.Fill(r.Stream, gputest.Threads(capacity/32), s.View(), uint32(permille<<32/1000), uint32(permille)))
		r.Do(r.Stream.Synchronize())
		before, err := s.Used()
		r.Do(err)
		free := capacity - int(before)
		if near := int(permille) * capacity / 1000; free < near/2 || free > 2*near {
			t.Fatalf("%d per mille: %d of %d slabs are free", permille, free, capacity)
		}
		if got := r.distinct(s, r.allocate(s, free+40, 1)); got != free {
			t.Errorf("%d per mille: %d slabs, %d were free", permille, got, free)
		}
		r.used(s, capacity)
	}
	r.Do(s.Reset())
	r.used(s, 0)
}

// The last free slab is found wherever it lies, by one warp that looks at one
// memory block at random and then at all in order.
func TestSlabsLast(t *testing.T) {
	r := newSlabRig(t)
	s := r.slabs(reference.SlabConfig{SlabBytes: 128, Blocks: 3, SuperBlocks: 4, Tries: 1})
	all := r.allocate(s, int(s.Capacity()), 1)
	for super := range uint32(4) {
		for block := range uint32(3) {
			last := super<<24 | block<<10 | (super*301 + block*57)
			if !slices.Contains(all, last) {
				t.Fatalf("slab %#x was not handed out", last)
			}
			r.free(s, []uint32{last})
			if got := r.allocate(s, 2, 0); got[0] != last || got[1] != reference.NoSlab {
				t.Errorf("slab %#x is free, thread 0 got %#x, thread 1 %#x", last, got[0], got[1])
			}
		}
	}
}

// A super block that is added is used once the others are full; slabs of those
// keep their addresses.
func TestSlabsGrow(t *testing.T) {
	r := newSlabRig(t)
	s := r.slabs(reference.SlabConfig{SlabBytes: 128, Blocks: 2, SuperBlocks: 1})
	first := r.allocate(s, int(s.Capacity()), 1)
	r.Do(s.Grow())
	second := r.allocate(s, int(s.Capacity()), 1)
	if got := r.distinct(s, slices.Concat(first, second)); got != int(s.Capacity()) {
		t.Errorf("%d slabs with a second super block, want %d", got, s.Capacity())
	}
	for _, a := range second {
		if a != reference.NoSlab && a>>24 != 1 {
			t.Fatalf("slab %#x is not in the second super block", a)
		}
	}
	for range reference.MaxSuperBlocks - 2 {
		r.Do(s.Grow())
	}
	if err := s.Grow(); !errors.Is(err, reference.ErrSlabsFull) {
		t.Errorf("Grow past %d super blocks: %v", reference.MaxSuperBlocks, err)
	}
}

// More memory than any device has is refused, and nothing stays allocated
// (gputest looks).
func TestSlabsTooLarge(t *testing.T) {
	r := newSlabRig(t)
	c := reference.SlabConfig{SlabBytes: 1 << 20, Blocks: reference.MaxSlabBlocks, SuperBlocks: 64}
	if s, err := reference.NewSlabs(r.Thread, r.slab, c); !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("NewSlabs with 1 PiB: %v, %v", s, err)
	}
	if _, err := reference.NewSlabs(r.Thread, r.slab, reference.SlabConfig{}); err == nil {
		t.Error("NewSlabs with an empty configuration: no error")
	}
}
