package partition

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
)

// Every row lands in the partition that its top hash bits name, once, whole
// and in the order in which it was placed, by any number of calls, in runs for one partition or
// not.
func TestScatter(t *testing.T) {
	t.Parallel()
	for name, scatter := range map[string]func(*Buckets, []uint64) (int, error){"rows": (*Buckets).Scatter, "runs": (*Buckets).ScatterRuns} {
		for _, stride := range []int{1, 3, 8, 5000} {
			for _, bits := range []uint{0, 1, 5} {
				t.Run(fmt.Sprintf("%s/stride=%d/bits=%d", name, stride, bits), func(t *testing.T) {
					testScatter(t, stride, bits, scatter)
				})
			}
		}
	}
}

func testScatter(t *testing.T, stride int, bits uint, scatter func(*Buckets, []uint64) (int, error)) {
	rng := rand.New(rand.NewPCG(uint64(stride), uint64(bits)))
	b := New(0, bits, NewPool(stride, nil), nil)
	want := make([][]uint64, 1<<bits)
	for n := range 20 {
		rows := randomRuns(rng, stride, rng.IntN(3000/stride+3), 1+n*n)
		if placed, err := scatter(b, rows); err != nil || placed != len(rows)/stride {
			t.Fatalf("%d of %d rows: %v", placed, len(rows)/stride, err)
		}
		for row := range slices.Chunk(rows, stride) {
			p := row[0] >> (64 - bits)
			want[p] = append(want[p], row...)
		}
	}
	for p := range want {
		var got []uint64
		for _, page := range b.Pages(nil, p) {
			got = append(got, page...)
		}
		if !slices.Equal(got, want[p]) || b.Rows(p)*stride != len(got) {
			t.Fatalf("partition %d holds other rows", p)
		}
	}
}

// randomRuns is random rows, of which up to `run` in a row have the same five top bits of their
// hash.
func randomRuns(rng *rand.Rand, stride, rows, run int) []uint64 {
	words := make([]uint64, stride*rows)
	top, left := uint64(0), 0
	for i := range words {
		words[i] = rng.Uint64()
		if i%stride == 0 {
			if left == 0 {
				top, left = words[i]>>59<<59, 1+rng.IntN(run)
			}
			words[i] = top | words[i]<<5>>5
			left--
		}
	}
	return words
}

// Below level 0 a partition knows how many top bits its hashes share, for rows of any calls.
func TestSharedBits(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		skip, n := 1+uint(rng.IntN(20)), uint(rng.IntN(3))
		b := New(skip, n, NewPool(2, nil), nil)
		prefix, alike := rng.Uint64()>>(64-skip)<<(64-skip), rng.IntN(64)
		hashes := make([][]uint64, 1<<n)
		for range rng.IntN(4) {
			var rows []uint64
			for range rng.IntN(4) {
				h := prefix | rng.Uint64()>>skip>>alike
				p := h << skip >> (64 - n)
				rows, hashes[p] = append(rows, h, 0), append(hashes[p], h)
			}
			for _, scatter := range []func([]uint64) (int, error){b.Scatter, b.ScatterRuns} {
				if _, err := scatter(rows); err != nil {
					t.Fatal(err)
				}
			}
			// a run
			same := slices.Repeat([]uint64{prefix | rng.Uint64()>>skip>>alike, 0}, rng.IntN(300))
			if len(same) > 0 {
				p := same[0] << skip >> (64 - n)
				hashes[p] = append(hashes[p], same[0])
			}
			if _, err := b.ScatterRuns(same); err != nil {
				t.Fatal(err)
			}
		}
		for p, all := range hashes {
			want := uint(64)
			for _, h := range all {
				want = min(want, uint(bits.LeadingZeros64(h^all[0])))
			}
			if got := b.SharedBits(p); got != want {
				t.Fatalf("%d bits are shared by %x, not %d", want, all, got)
			}
		}
	}
}

// All pages but a bucket's last are full: rows are numbered by page.
func TestPagesAreFull(t *testing.T) {
	t.Parallel()
	pool := NewPool(3, nil)
	b := New(0, 0, pool, nil)
	if _, err := b.Scatter(make([]uint64, 3*10_001)); err != nil {
		t.Fatal(err)
	}
	pages := b.Pages(nil, 0)
	for _, page := range pages[:len(pages)-1] {
		if len(page) != 3<<pool.PageBits {
			t.Fatalf("a page of %d words, full is %d", len(page), 3<<pool.PageBits)
		}
	}
}

// A page has as many rows as fit PageBytes, a power of two, or one.
func TestPageBytes(t *testing.T) {
	t.Parallel()
	for _, stride := range []int{1, 3, 4, 6, 8, 100, 1024, 5000} {
		pool := NewPool(stride, nil)
		if n := 8 * pool.words(); n > PageBytes && pool.PageBits > 0 || 2*n <= PageBytes {
			t.Errorf("%d words a row: a page of %d bytes", stride, n)
		}
	}
}

// Pages that were put back are used again before memory is asked for, and
// come empty.
func TestRelease(t *testing.T) {
	t.Parallel()
	pool := NewPool(2, nil)
	b := New(0, 1, pool, nil)
	rows := make([]uint64, 2*10_000)
	if _, err := b.Scatter(rows); err != nil {
		t.Fatal(err)
	}
	held := pool.Bytes()
	for range 5 {
		b.Release(0)
		if b.Rows(0) != 0 || len(b.Pages(nil, 0)) != 0 {
			t.Fatal("a released partition has rows")
		}
		if _, err := b.Scatter(rows); err != nil {
			t.Fatal(err)
		}
	}
	if pool.Bytes() != held || b.Rows(0) != 10_000 {
		t.Fatalf("%d bytes held, then %d; %d rows", held, pool.Bytes(), b.Rows(0))
	}
}

// Memory that is refused is an error of Scatter, and rows placed before stay.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, scatter := range map[string]func(*Buckets, []uint64) (int, error){"rows": (*Buckets).Scatter, "runs": (*Buckets).ScatterRuns} {
		t.Run(name, func(t *testing.T) {
			refused := errors.New("refused")
			left := int64(1 << 20)
			b := New(0, 2, NewPool(4, budgettest.Lender(func(bytes int64) error {
				if left -= bytes; left < 0 {
					return refused
				}
				return nil
			})), nil)
			placed := 0
			var err error
			for err == nil {
				var n int
				n, err = scatter(b, make([]uint64, 4*1000))
				placed += n
			}
			if !errors.Is(err, refused) {
				t.Fatal(err)
			}
			if b.Rows(0) != placed || placed < 1000 {
				t.Fatalf("%d rows left of %d placed", b.Rows(0), placed)
			}
		})
	}
}
