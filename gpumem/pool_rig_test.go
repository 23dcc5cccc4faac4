package gpumem_test

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// poolRig is a device with the kernels that the tests of Pool use. What it makes
// is closed at the end of the test.
type poolRig struct {
	*gputest.Rig
	pages  *kernels.Pages
	bench  *kerneltest.PagesBench
	stress *kerneltest.PagesStress
}

func newPoolRig(tb testing.TB) *poolRig {
	tb.Helper()
	thread := gputest.Open(tb)
	return &poolRig{
		Rig:    gputest.NewRig(tb, thread),
		pages:  gputest.Load(tb, thread, kernels.LoadPages),
		bench:  gputest.Load(tb, thread, kerneltest.LoadPagesBench),
		stress: gputest.Load(tb, thread, kerneltest.LoadPagesStress),
	}
}

func (r *poolRig) pool(c gpumem.Config) *gpumem.Pool {
	r.TB.Helper()
	return gputest.Keep(r.TB, func() (*gpumem.Pool, error) { return gpumem.New(r.Thread, r.pages, c) })
}

// scale is a size for this device: a small one under -short, which sanitizers run
// with, one for the emulator, or one for a GPU.
func scale(short, emulated, gpu int) int {
	switch {
	case testing.Short():
		return short
	case gputest.Emulated():
		return emulated
	}
	return gpu
}

// A getter launches a kernel that gets pages, a stresser one that gets and frees.
type (
	getter   func(*kerneltest.PagesBench, *cuda.Stream, cuda.Grid, kernels.PagePool, kerneltest.PageAsk) error
	stresser func(*kerneltest.PagesStress, *cuda.Stream, cuda.Grid, kernels.PagePool, kerneltest.PageStress) error
)

// way is a way to get pages: a method, with the lock map or without.
type way struct {
	name    string
	method  gpumem.Method
	get     getter
	counted getter
	stress  stresser
	locked  bool // with the lock map: may refuse although there are pages
}

var ways = []way{
	{"rw", gpumem.RW, (*kerneltest.PagesBench).GetRw, (*kerneltest.PagesBench).GetRwCounted, (*kerneltest.PagesStress).Rw, false},
	{"rwbm", gpumem.RWBM, (*kerneltest.PagesBench).GetRwbm, (*kerneltest.PagesBench).GetRwbmCounted, (*kerneltest.PagesStress).Rwbm, false},
	{"rwbm-lock", gpumem.RWBM, (*kerneltest.PagesBench).GetRwbmLock, (*kerneltest.PagesBench).GetRwbmLockCounted, (*kerneltest.PagesStress).RwbmLock, true},
	{"corw", gpumem.CoRW, (*kerneltest.PagesBench).GetCorw, (*kerneltest.PagesBench).GetCorwCounted, (*kerneltest.PagesStress).Corw, false},
	{"corw-lock", gpumem.CoRW, (*kerneltest.PagesBench).GetCorwLock, (*kerneltest.PagesBench).GetCorwLockCounted, (*kerneltest.PagesStress).CorwLock, true},
	{"crw", gpumem.CRW, (*kerneltest.PagesBench).GetCrw, (*kerneltest.PagesBench).GetCrwCounted, (*kerneltest.PagesStress).Crw, false},
	{"crw-lock", gpumem.CRW, (*kerneltest.PagesBench).GetCrwLock, (*kerneltest.PagesBench).GetCrwLockCounted, (*kerneltest.PagesStress).CrwLock, true},
}

// wayOf is the way of that name.
func wayOf(name string) way {
	return ways[slices.IndexFunc(ways, func(w way) bool { return w.name == name })]
}

// fill brings the pool to a share of free pages, each free or not for itself, and
// returns how many are free then.
func (r *poolRig) fill(p *gpumem.Pool, share float64) int {
	r.TB.Helper()
	free := uint32(min(share*(1<<32), math.MaxUint32))
	r.Do(r.bench.Fill(r.Stream, cuda.Grid{Blocks: 32, Threads: 128}, p.View(), free, uint32(share*1e6)+1, 1))
	return r.free(p)
}

// free waits for the stream and counts the free pages.
func (r *poolRig) free(p *gpumem.Pool) int {
	r.TB.Helper()
	r.Do(r.Stream.Synchronize())
	free, err := p.Free()
	r.Do(err)
	return int(free)
}

// locks is a lock map with no word locked.
func (r *poolRig) locks(p *gpumem.Pool) cuda.Ptr {
	r.TB.Helper()
	return r.Words(int(p.Capacity())/1024+1, 0).Ptr
}

// bitmap is which pages of a pool are in use, and nothing else: bits past the last
// page have to be set (PAGE-TAIL).
func (r *poolRig) bitmap(p *gpumem.Pool) []bool {
	r.TB.Helper()
	view := p.View()
	n := int(view.Count+view.WordPages-1) / int(view.WordPages)
	used := make([]bool, 0, n*int(view.WordPages))
	for _, word := range r.Read(cuda.Span{Ptr: view.Words, Size: cuda.Size((n + 255) / 256 * 256 * 4)}) {
		for bit := range view.WordPages {
			used = append(used, word>>bit&1 != 0)
		}
	}
	for i, set := range used[view.Count:] {
		if !set {
			r.TB.Errorf("the bit of page %d, past the last one, is clear", int(view.Count)+i)
		}
	}
	return used[:view.Count]
}

// requests is a launch's pages, in memory of the device.
type requests struct {
	grid cuda.Grid
	ask  kerneltest.PageAsk
	out  cuda.Span
}

// requests makes n requests, rounds times, of these lanes of each warp.
func (r *poolRig) requests(locks cuda.Ptr, n int, lanes, rounds uint32) requests {
	r.TB.Helper()
	out := r.Words(max(n*int(rounds), 1), 0xdead)
	warps := (n + bits.OnesCount32(lanes) - 1) / bits.OnesCount32(lanes)
	ask := kerneltest.PageAsk{Out: out.Ptr, Locks: locks, N: uint32(n), Lanes: lanes, Rounds: rounds}
	return requests{grid: gputest.Threads(32 * warps), ask: ask, out: out}
}

// get gets pages and waits; the pages of all requests, NoPage where there is none.
func (r *poolRig) get(p *gpumem.Pool, get getter, q requests) []uint32 {
	r.TB.Helper()
	r.Do(get(r.bench, r.Stream, q.grid, p.View(), q.ask))
	return r.Read(q.out)
}

// giveBack frees the pages of requests.
func (r *poolRig) giveBack(p *gpumem.Pool, w way, q requests) {
	r.TB.Helper()
	free := r.bench.Free
	if w.method == gpumem.RW {
		free = r.bench.FreeFlags
	}
	r.Do(free(r.Stream, q.grid, p.View(), q.ask))
}

// taken wants pages to be different ones of p that were free before, and in use
// now, with nothing else changed. It returns how many there are.
func (r *poolRig) taken(p *gpumem.Pool, before []bool, pages []uint32) int {
	r.TB.Helper()
	got := 0
	for i, page := range pages {
		switch {
		case page == gpumem.NoPage:
			continue
		case page >= p.Capacity():
			r.TB.Fatalf("request %d got page %#x of %d", i, page, p.Capacity())
		case before[page]:
			r.TB.Fatalf("request %d got page %d, which another one has", i, page)
		}
		before[page] = true
		got++
	}
	for page, used := range r.bitmap(p) {
		if used != before[page] {
			r.TB.Fatalf("page %d: in use %v, want %v", page, used, before[page])
		}
	}
	return got
}

// counts are PageCounts on the device, and how to read them.
func (r *poolRig) counts() (cuda.Ptr, func() kerneltest.PageCounts) {
	r.TB.Helper()
	span := r.Words(int(unsafe.Sizeof(kerneltest.PageCounts{})/4), 0)
	return span.Ptr, func() kerneltest.PageCounts {
		raw := r.Bytes(span)
		at := func(offset uintptr) uint64 { return binary.LittleEndian.Uint64(raw[offset:]) }
		var c kerneltest.PageCounts
		c.Requests, c.Refused = at(unsafe.Offsetof(c.Requests)), at(unsafe.Offsetof(c.Refused))
		c.Steps, c.Most = at(unsafe.Offsetof(c.Steps)), at(unsafe.Offsetof(c.Most))
		c.Warps, c.WarpSteps = at(unsafe.Offsetof(c.Warps)), at(unsafe.Offsetof(c.WarpSteps))
		return c
	}
}
