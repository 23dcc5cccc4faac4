package gpumem_test

import (
	"fmt"
	"math/bits"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// held is how many pages a stress kernel's thread holds at most; half of them on
// average.
const held = 4

// Threads take and give back at random, with pages short or not, and none finds
// another one in its page.
func TestPoolStress(t *testing.T) {
	threads, rounds := scale(512, 2048, 1<<20), uint32(20)
	for _, w := range ways {
		for _, c := range []struct {
			free  float64 // share of free pages when each thread holds half of its limit
			lanes uint32
		}{
			{0.5, 0xffffffff}, {0.1, 0xffffffff}, {0.01, 0x00ff00ff}, {0.005, 0xffffffff}, {0.001, 0xfffffffe},
		} {
			t.Run(fmt.Sprintf("%s/free=%v", w.name, c.free), func(t *testing.T) {
				r := newPoolRig(t)
				r.poolStress(w, c.free, c.lanes, threads, rounds)
			})
		}
	}
}

// A million threads on the emulator too, for the methods that gagg uses.
func TestPoolStressMillion(t *testing.T) {
	if testing.Short() || !gputest.Emulated() {
		t.Skip("long on the emulator; elsewhere TestPoolStress has as many threads")
	}
	for _, w := range ways {
		if w.name == "corw" || w.name == "crw" {
			t.Run(w.name, func(t *testing.T) {
				r := newPoolRig(t)
				r.poolStress(w, 0.001, 0xffffffff, 1<<20, 4)
			})
		}
	}
}

func (r *poolRig) poolStress(w way, free float64, lanes uint32, n int, rounds uint32) {
	r.TB.Helper()
	asking := n * bits.OnesCount32(lanes) / 32
	pages := uint32(float64(asking) * held / 2 / (1 - free))
	p := r.pool(gpumem.Config{Pages: pages, PageBytes: 32, Method: w.method, LowestFree: max(free/2, 0.001)})
	owners := r.Words(int(pages), 0)
	kept := r.Words(n*held, gpumem.NoPage)
	faults := r.Words(int(unsafe.Sizeof(kerneltest.OwnerFaults{})/4), 0)
	stress := kerneltest.PageStress{
		Owners: owners.Ptr, Locks: r.locks(p), Held: kept.Ptr, Faults: faults.Ptr, Rounds: rounds, Lanes: lanes, Seed: uint32(pages),
	}
	r.Do(w.stress(r.stress, r.Stream, gputest.Threads(n), p.View(), stress))
	checkFaults(r.TB, r.Read(faults), true)
	got := r.taken(p, make([]bool, pages), r.Read(kept))
	for page, owner := range r.Read(owners) {
		if owner != 0 {
			got--
		}
		if int(owner) > n {
			r.TB.Fatalf("page %d has owner %d", page, owner)
		}
	}
	if got != 0 {
		r.TB.Errorf("%d more pages are held than have an owner", got)
	}
}

// Memory of all sizes, taken and given back at random, never overlaps; in the end
// all pages are free and no page has a part in use.
func TestMallocStress(t *testing.T) {
	n, rounds := scale(128, 512, 1<<17), uint32(scale(20, 40, 50))
	for _, pageBytes := range []cuda.Size{32, 256, 4096} {
		for _, perThread := range []int{20, 6, 1} { // pages: plenty, enough, too few
			for _, lanes := range askers {
				t.Run(fmt.Sprintf("page=%d/pages=%d/lanes=%x", pageBytes, perThread, lanes), func(t *testing.T) {
					r := newPoolRig(t)
					pages := uint32(n*perThread*bits.OnesCount32(lanes)/32 + 33)
					p := r.pool(gpumem.Config{Pages: pages, PageBytes: pageBytes, Parts: true})
					owners := r.Words(int(pages)*int(pageBytes)/16, 0)
					faults := r.Words(int(unsafe.Sizeof(kerneltest.OwnerFaults{})/4), 0)
					stress := kerneltest.PageStress{Owners: owners.Ptr, Faults: faults.Ptr, Rounds: rounds, Lanes: lanes, Seed: 3}
					r.Do(r.stress.Malloc(r.Stream, gputest.Threads(n), p.View(), stress))
					checkFaults(t, r.Read(faults), true)
					if free := r.free(p); free != int(pages) {
						t.Errorf("%d of %d pages are free in the end", free, pages)
					}
					for page, parts := range r.Read(cuda.Span{Ptr: p.View().Shares, Size: cuda.Size(4 * pages)}) {
						if parts != 0 {
							t.Fatalf("page %d has %d parts in the end", page, parts)
						}
					}
				})
			}
		}
	}
}

// checkFaults wants OwnerFaults to be without faults; short tells whether
// refusals are none.
func checkFaults(tb testing.TB, f []uint32, short bool) {
	tb.Helper()
	found := kerneltest.OwnerFaults{Twice: f[0], Strange: f[1], Spoiled: f[2], Refused: f[3]}
	if found.Twice != 0 || found.Strange != 0 || found.Spoiled != 0 || (found.Refused != 0 && !short) {
		tb.Errorf("faults: %+v", found)
	}
}
