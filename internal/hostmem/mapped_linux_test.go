//go:build !race

package hostmem

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// resident is the bytes of physical memory that the process has.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var all, here int64
	if _, err := fmt.Sscan(string(text), &all, &here); err != nil {
		t.Fatal(err)
	}
	return here * int64(pageSize)
}

// Memory is resident from the first touch until Free, without the garbage
// collector, both with huge pages and without.
func TestResident(t *testing.T) {
	const total = 96 << 20
	for _, size := range []int{mapFrom, 1 << 20, total} {
		debug.FreeOSMemory() // else the runtime does it meanwhile, with garbage of other tests
		before := resident(t)
		var made [][]uint64
		for range total / size {
			made = append(made, Make[uint64](size/8))
		}
		untouched := resident(t)
		for _, s := range made {
			for i := 0; i < len(s); i += 512 {
				s[i] = 1
			}
		}
		touched := resident(t)
		for _, s := range made {
			Free(s)
		}
		after := resident(t)
		const slack = total / 8 // what the Go runtime and its collector do meanwhile
		if untouched-before > slack || touched-before < total-slack || after-before > slack {
			t.Errorf("%d buffers of %d bytes: resident %d before, %d made, %d touched, %d freed",
				len(made), size, before, untouched, touched, after)
		}
	}
}

// Growing a large buffer holds no second copy of it: its peak is its size.
func TestGrowHoldsNoCopy(t *testing.T) {
	const size = 64 << 20
	s := Make[uint64](size / 8)
	for i := 0; i < len(s); i += 512 {
		s[i] = 1
	}
	debug.FreeOSMemory()
	before := resident(t)
	s = Grow(s, 2*size/8)
	if after := resident(t); after-before > size/4 {
		t.Errorf("resident %d before, %d after", before, after)
	}
	Free(s)
}

// Buffers for huge pages begin at a multiple of their size, grown ones too.
func TestAligned(t *testing.T) {
	for _, size := range []int{hugeFrom, hugeFrom + 4096, 5*hugePage + 8} {
		s := Make[uint64](size / 8)
		between := Make[uint64](hugeFrom / 8) // takes the addresses to grow into
		g := Grow(s, size/4)
		if uintptr(unsafe.Pointer(&g[0]))%hugePage != 0 {
			t.Errorf("%d bytes at %p", 2*size, &g[0])
		}
		Free(between)
		Free(g)
	}
}

// The mappings are counted, and all of them are gone in the end, whoever
// makes and frees them.
func TestLive(t *testing.T) {
	before := Live()
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 50 {
				s := Make[uint64](sizes[(i+w)%len(sizes)] / 8)
				s = Grow(s, len(s)*2)
				Free(s)
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	s := Make[byte](mapFrom + 1)
	if got, want := Live()-before, int64(mapFrom)+int64(pageSize); got != want {
		t.Errorf("%d bytes live, want %d", got, want)
	}
	Free(s)
	if Live() != before {
		t.Errorf("%d bytes live, then %d", before, Live())
	}
}

// Where the system refuses mappings, buffers are Go memory, and are made,
// grown and freed like others.
func TestRefused(t *testing.T) {
	runtime.KeepAlive(make([]byte, 16<<20)) // leaves the Go heap addresses to work with
	runtime.GC()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: 1 << 20, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	before := Live()
	s := Make[uint64](mapFrom / 8)
	g := Grow(s, mapFrom/4)
	grownLive := Live()
	if err := unix.Setrlimit(unix.RLIMIT_AS, &was); err != nil {
		t.Fatal(err)
	}
	if grownLive != before {
		t.Errorf("mappings of %d bytes were made under a limit of addresses", grownLive-before)
	}
	fill(t, g, 0)
	Free(g)
	if live.at[unsafe.Pointer(&g[0])].heap != nil {
		t.Error("still held")
	}
}
