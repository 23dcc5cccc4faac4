package ondevice_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/partition/ondevice"
)

// chainRig is chains of one division, and their pool.
type chainRig struct {
	*deviceRig
	d      ondevice.Rows
	pool   *gpumem.Pool
	chains *ondevice.Chains
}

// newChainRig makes chains of pages that hold about as many rows. pages 0: as many as calls of
// n rows in all need.
func newChainRig(tb testing.TB, d ondevice.Rows, n, pageRows int, pages uint32) *chainRig {
	tb.Helper()
	r := &chainRig{deviceRig: newDeviceRig(tb), d: d}
	bytes := cuda.Size(64)
	for int(bytes)/(8*d.Stride) < pageRows {
		bytes *= 2
	}
	if pages == 0 {
		pages = uint32(n/(int(bytes)/(8*d.Stride)) + d.Partitions() + 1)
	}
	k := load(r.deviceRig, kernels.LoadPages)
	r.pool = gputest.Keep(tb, func() (*gpumem.Pool, error) {
		return gpumem.New(r.Thread, k, gpumem.Config{Pages: pages, PageBytes: bytes})
	})
	chain := load(r.deviceRig, kernels.LoadEgaScatterChain)
	r.chains = gputest.Keep(tb, func() (*ondevice.Chains, error) { return ondevice.NewChains(r.Thread, chain, r.pool, d, n) })
	return r
}

// drain checks the chains of n partitions from first on, frees them, and returns
// the rows that were in them.
func (r *chainRig) drain(first, n int) []uint64 {
	r.TB.Helper()
	sizes, err := r.chains.Sizes()
	r.Do(err)
	r.Do(r.chains.List(r.Stream, sizes))
	want, pages := 0, 0
	for p, s := range sizes[first : first+n] {
		want, pages = want+s.Rows(r.chains.PageRows()), pages+s.Pages
		if s.Last > r.chains.PageRows() || (s.Pages > 0) != (s.Last > 0) {
			r.TB.Fatalf("the chain of partition %d has %d pages, and %d rows in the last one", first+p, s.Pages, s.Last)
		}
	}
	row := cuda.Size(8 * r.d.Stride)
	dense, at := r.span(want*r.d.Stride), cuda.Size(0)
	for p := first; p < first+n; p++ {
		all := sizes[p].Rows(r.chains.PageRows())
		for from := 0; from < all; { // in pieces, which begin and end in the middle of a page
			some := min(all-from, r.chains.PageRows()*5/3)
			r.Do(r.chains.Gather(r.Stream, p, from, some, dense.Slice(at, at+cuda.Size(some)*row)))
			from, at = from+some, at+cuda.Size(some)*row
		}
	}
	words := r.Read64(dense, want*r.d.Stride)
	rest := words
	for p := first; p < first+n; p++ {
		n := sizes[p].Rows(r.chains.PageRows()) * r.d.Stride
		checkPartition(r.TB, r.d, rest[:n], p)
		rest = rest[n:]
	}
	before := r.used()
	r.Do(r.chains.Free(r.Stream, first, n))
	if after := r.used(); before-after != pages {
		r.TB.Fatalf("%d pages are in use, and %d once %d are freed", before, after, pages)
	}
	return words
}

// used waits for the stream and counts the pages in use.
func (r *chainRig) used() int {
	r.TB.Helper()
	r.Do(r.Stream.Synchronize())
	used, err := r.pool.Used()
	r.Do(err)
	return int(used)
}

// None is left, and no page is.
func (r *chainRig) append(span cuda.Span, n int) {
	r.TB.Helper()
	r.Do(r.chains.Append(r.Stream, span, n))
	r.Do(r.Stream.Synchronize())
	if left, err := r.chains.Left(); left != 0 || err != nil {
		r.TB.Fatalf("%d rows are left: %v", left, err)
	}
}

func TestChains(t *testing.T) {
	deviceCases(func(name string, d ondevice.Rows, n int, words []uint64) {
		t.Run(name, func(t *testing.T) {
			r := newChainRig(t, d, n, 100, 0)
			r.append(r.write(words), n)
			sameRows(t, r.drain(0, d.Partitions()), words, d.Stride)
			if used := r.used(); used != 0 {
				t.Errorf("%d pages are in use", used)
			}
		})
	})
}

// Calls append to what is there, and chains are taken while others stay.
func TestChainsGrow(t *testing.T) {
	const n, calls = 3000, 4
	d := ondevice.Rows{Stride: 4, Bits: 4, TileRows: 64}
	for _, skew := range skews {
		t.Run(skew.name, func(t *testing.T) {
			words := rows(calls*n, d.Stride, skew.word)
			r := newChainRig(t, d, calls*n, 64, 0)
			src := r.write(words)
			var got []uint64
			for call := range calls {
				r.append(src.Slice(cuda.Size(call*n*32), cuda.Size((call+1)*n*32)), n)
				first := 4 * call
				got = append(got, r.drain(first, 4)...) // partitions that later calls begin anew
			}
			got = append(got, r.drain(0, d.Partitions())...)
			sameRows(t, got, words, d.Stride)
		})
	}
}

// Pages run out at any moment: the rows that were not placed are reported and, once there are pages
// again, placed, each row once (CHAIN-ONCE).
func TestChainsOutOfPages(t *testing.T) {
	for _, c := range []struct {
		d    ondevice.Rows
		n    int
		skew int
	}{
		{ondevice.Rows{Stride: 2, Bits: 4, TileRows: 32}, 2000, 0},
		{ondevice.Rows{Stride: 3, Bits: 0, TileRows: 64}, 2000, 0},
		{ondevice.Rows{Stride: 2, Bits: 11}, 150, 0},
		{ondevice.Rows{Stride: 2, Bits: 3, TileRows: 32}, 3000, 4},
		{ondevice.Rows{Stride: 5, Bits: 6, TileRows: 64}, 1501, 5},
	} {
		for _, pages := range []uint32{1, 2, 3, 7, 16, 40} {
			if testing.Short() && pages != 3 {
				continue
			}
			t.Run(fmt.Sprintf("stride=%d/bits=%d/%s/pages=%d", c.d.Stride, c.d.Bits, skews[c.skew].name, pages), func(t *testing.T) {
				newChainRig(t, c.d, c.n, 60, pages).runOut(c.n, skews[c.skew].word)
			})
		}
	}
}

func (r *chainRig) runOut(n int, word wordOf) {
	r.TB.Helper()
	words := rows(n, r.d.Stride, word)
	src := r.write(words)
	var got []uint64
	r.Do(r.chains.Append(r.Stream, src, n))
	for {
		r.Do(r.Stream.Synchronize())
		left, err := r.chains.Left()
		if (left > 0) != errors.Is(err, kernels.StatusOutOfPages) {
			r.TB.Fatalf("%d rows are left: %v", left, err)
		}
		taken := r.drain(0, r.d.Partitions())
		got = append(got, taken...)
		if len(got)/r.d.Stride != n-left {
			r.TB.Fatalf("%d rows are placed and %d left of %d", len(got)/r.d.Stride, left, n)
		}
		if left == 0 {
			break
		}
		if len(taken) == 0 {
			r.TB.Fatal("no row is placed although all pages were free")
		}
		r.Do(r.chains.AppendLeft(r.Stream, src, n))
	}
	sameRows(r.TB, got, words, r.d.Stride)
}

// Without freeing anything it is the same rows that are left, and nothing else changes.
func TestChainsStayOut(t *testing.T) {
	const n = 1000
	d := ondevice.Rows{Stride: 2, Bits: 2}
	r := newChainRig(t, d, n, 60, 5)
	words := rows(n, d.Stride, skews[0].word)
	src := r.write(words)
	r.Do(r.chains.Append(r.Stream, src, n))
	r.Do(r.Stream.Synchronize())
	left, _ := r.chains.Left()
	for range 3 {
		r.Do(r.chains.AppendLeft(r.Stream, src, n))
		r.Do(r.Stream.Synchronize())
		again, err := r.chains.Left()
		if again > left || again == 0 || !errors.Is(err, kernels.StatusOutOfPages) {
			t.Fatalf("%d rows are left, then %d: %v", left, again, err)
		}
		left = again
	}
	if got := r.drain(0, 4); len(got)/d.Stride != n-left {
		t.Errorf("%d rows are placed and %d left of %d", len(got)/d.Stride, left, n)
	}
}

func TestChainsRefuse(t *testing.T) {
	r := newDeviceRig(t)
	pages := load(r, kernels.LoadPages)
	chain := load(r, kernels.LoadEgaScatterChain)
	for _, c := range []struct {
		config gpumem.Config
		d      ondevice.Rows
	}{
		{gpumem.Config{Pages: 10, PageBytes: 4096, Method: gpumem.RW}, ondevice.Rows{Stride: 2}},
		{gpumem.Config{Pages: 10, PageBytes: 512}, ondevice.Rows{Stride: 3}}, // 21 rows
		{gpumem.Config{Pages: 10, PageBytes: 4096}, ondevice.Rows{Stride: 2, Bits: kernels.ScatterMostBits + 1}},
		{gpumem.Config{Pages: 10, PageBytes: 4096}, ondevice.Rows{Stride: 0}},
		// too small, and too many
		{gpumem.Config{Pages: 1 << 21, PageBytes: 32}, ondevice.Rows{Stride: 1}},
	} {
		pool := gputest.Keep(t, func() (*gpumem.Pool, error) { return gpumem.New(r.Thread, pages, c.config) })
		if chains, err := ondevice.NewChains(r.Thread, chain, pool, c.d, 10); err == nil {
			t.Errorf("%+v of pages %+v are accepted", c.d, c.config)
			chains.Close()
		}
	}
	c := newChainRig(t, ondevice.Rows{Stride: 2}, 10, 60, 3)
	room := c.span(20)
	for _, n := range []int{-1, 11} {
		if err := c.chains.Append(c.Stream, room, n); err == nil {
			t.Errorf("%d rows are accepted", n)
		}
	}
	if err := c.chains.Append(c.Stream, room.Slice(0, 100), 10); err == nil {
		t.Error("10 rows in 100 bytes are accepted")
	}
	for _, n := range []int{0, 11} {
		if err := c.chains.Gather(c.Stream, 0, 0, n, room.Slice(0, 160)); err == nil {
			t.Errorf("%d rows are gathered in memory for 10", n)
		}
	}
}
