//go:build !race && !invariant

package hostmem

import (
	"math/bits"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"testing"
	"unsafe"
)

// withSlack gives the process slack during a test that frees all it makes, and whose buffers are
// not its first.
func withSlack(t *testing.T, bytes int64) {
	t.Helper()
	shared.early = earlyBytes
	Slack(bytes)
	t.Cleanup(func() {
		Slack(-bytes)
		if shared.spare != 0 {
			t.Errorf("%d bytes to spare without slack", shared.spare)
		}
	})
}

// Buffers that share huge pages are zero when they are made, keep what is written to them, and
// never break SPARE-BOUND, with more slack than they use and with less.
func TestHugeHeap(t *testing.T) {
	for _, slack := range []int64{hugePage - unitBytes, 3 * hugePage, 1 << 30} {
		t.Run(strconv.FormatInt(slack, 10), func(t *testing.T) { testHugeHeap(t, slack) })
	}
}

func testHugeHeap(t *testing.T, slack int64) {
	withSlack(t, slack)
	rng := rand.New(rand.NewPCG(1, uint64(slack)))
	var all [][]uint64
	for range 4000 {
		n, i := 1+rng.IntN(1<<rng.IntN(19)), rng.IntN(len(all)+1)
		switch {
		case i == len(all) && len(all) < 60:
			all = append(all, Make[uint64](n))
			fill(t, all[i], 0)
		case i == len(all):
		case rng.IntN(2) == 0:
			kept := len(all[i])
			all[i] = Grow(all[i], max(n, kept))
			fill(t, all[i], kept)
		default:
			checkFilled(t, all[i])
			Free(all[i])
			all[i] = all[len(all)-1]
			all = all[:len(all)-1]
		}
		if shared.spare > shared.slack {
			t.Fatalf("%d bytes to spare, of %d", shared.spare, shared.slack)
		}
	}
	for _, s := range all {
		checkFilled(t, s)
		Free(s)
	}
}

// checkFilled checks that elements are their index.
func checkFilled(t *testing.T, s []uint64) {
	t.Helper()
	for i, w := range s {
		if w != uint64(i) {
			t.Fatalf("element %d of %d is %d", i, len(s), w)
		}
	}
}

// What is freed is used again, and what is resident beyond buffers is within the slack.
func TestSlack(t *testing.T) {
	const slack, size, n = 8 << 20, 256 << 10, 256
	withSlack(t, slack)
	debug.FreeOSMemory()
	before := resident(t)
	made := touched(n, size)
	if got := resident(t) - before; got < n*size || got > n*size+2*slack {
		t.Errorf("%d bytes resident for %d", got, n*size)
	}
	first := unsafe.Pointer(&made[0][0])
	if first != shared.chunks[0].base && uintptr(first)%unitBytes != 0 {
		t.Errorf("at %p, not in a huge page", first)
	}
	Free(made[0])
	if again := Make[byte](size); unsafe.Pointer(&again[0]) != first {
		t.Errorf("at %p, then at %p", first, &again[0])
	} else {
		made[0] = again
	}
	for _, s := range made {
		Free(s)
	}
	if got := resident(t) - before; got > 2*slack {
		t.Errorf("%d bytes resident of none", got)
	}
}

// touched makes buffers and writes to each of their pages.
func touched(n, size int) (made [][]byte) {
	for range n {
		s := Make[byte](size)
		for i := 0; i < size; i += 4096 {
			s[i] = 1
		}
		made = append(made, s)
	}
	return made
}

// The first buffers of a process make no huge page resident, and have no place.
func TestEarlyBuffers(t *testing.T) {
	h := &hugeHeap{slack: 1 << 30}
	for range earlyBytes / (256 << 10) {
		if p, _ := h.allocate(256 << 10); p.chunk != nil || h.spare != 0 {
			t.Fatalf("an early buffer has a place: %v, with %d bytes to spare", p, h.spare)
		}
	}
	if p, _ := h.allocate(256 << 10); p.chunk == nil || h.spare != hugePage-256<<10 {
		t.Errorf("%d bytes to spare after the first that shares a huge page", h.spare)
	}
}

// find tells the first run of free units, as one that looks at each unit does.
func TestFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		c := chunk{used: rng.Uint64() & rng.Uint64() & rng.Uint64()}
		n, want := 1+rng.IntN(unitsPerChunk), -1
		for at := 0; at+n <= unitsPerChunk && want < 0; at++ {
			if bits.TrailingZeros64(c.used>>at) >= n {
				want = at
			}
		}
		if got := c.find(n); got != want {
			t.Fatalf("%d units of %064b at %d, want %d", n, c.used, got, want)
		}
	}
}
