package arena

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
)

func TestPutGet(t *testing.T) {
	t.Parallel()
	var r Arenas
	defer r.Close()
	a := r.New()
	if got := r.Get(0); got != nil {
		t.Errorf("Get(0) = %q, want nil", got)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[uint64][]byte{}
	for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 1000, minChunk, maxChunk, 3 * maxChunk / 2, 0, 5} {
		for range 5 {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			ref := a.Put(b)
			if _, taken := want[ref]; taken || ref == 0 {
				t.Fatalf("ref %#x of %d bytes is 0 or taken", ref, n)
			}
			want[ref] = b
		}
	}
	for ref, b := range want {
		if got := a.Get(ref); !bytes.Equal(got, b) {
			t.Fatalf("value of %d bytes came back as %d other bytes", len(b), len(got))
		}
	}
}

// Room is a value like any other, once it is written.
func TestRoom(t *testing.T) {
	t.Parallel()
	reg := &Arenas{}
	a := reg.New()
	defer a.Reset()
	refs := map[uint64][]byte{}
	for n := range 3000 {
		ref, b := a.Room(n)
		if len(b) != n || cap(b) != n {
			t.Fatalf("room for %d bytes is %d, and %d", n, len(b), cap(b))
		}
		for i := range b {
			b[i] = byte(n + i)
		}
		refs[ref] = bytes.Clone(b)
		refs[a.Put([]byte("between"))] = []byte("between")
	}
	for ref, want := range refs {
		if got := reg.Get(ref); !bytes.Equal(got, want) {
			t.Fatalf("ref %x: %x, want %x", ref, got, want)
		}
	}
}

// A long run of replacements of growing and shrinking values must take space
// in proportion to the longest of them.
func TestReplaceReusesSpace(t *testing.T) {
	t.Parallel()
	var r Arenas
	defer r.Close()
	a := r.New()
	neighbour := a.Put([]byte("before"))
	ref := uint64(0)
	for i := range 100_000 {
		b := bytes.Repeat([]byte{byte(i)}, i%1000)
		ref = a.Replace(ref, b)
		if got := r.Get(ref); !bytes.Equal(got, b) {
			t.Fatalf("step %d: %q, want %q", i, got, b)
		}
	}
	if got := r.Get(neighbour); string(got) != "before" {
		t.Errorf("neighbour became %q", got)
	}
	if r.Bytes() > minChunk {
		t.Errorf("%d bytes for values of at most 1000", r.Bytes())
	}
}

// SHARED-KEPT: a value without space of its own, which others refer to, is not written to.
func TestReplaceShared(t *testing.T) {
	t.Parallel()
	chunk := make([]byte, 64)
	copy(chunk[copy(chunk, []byte{5, 0, 0, 0, 0, 0, 0, 0}):], "texts")
	var r Arenas
	defer r.Close()
	base := r.Adopt(chunk)
	defer r.Drop(base)
	a := r.New()
	for _, text := range []string{"", "a", "other texts"} {
		shared := base | 1
		ref := a.Replace(shared, []byte(text))
		if got := string(r.Get(ref)); got != text || ref == shared || string(r.Get(shared)) != "texts" {
			t.Errorf("%q: %q, and the other is %q", text, got, r.Get(shared))
		}
	}
	if empty := a.Put(nil); a.Replace(empty, nil) != empty {
		t.Error("an empty value takes the place of another in a place of its own")
	}
}

// Refs of all workers resolve in one registry.
func TestWorkersShareRegistry(t *testing.T) {
	t.Parallel()
	const workers, values = 8, 5000
	var r Arenas
	refs := make([][]uint64, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			a := r.New()
			for i := range values {
				refs[w] = append(refs[w], a.Put(fmt.Appendf(nil, "worker %d value %d", w, i)))
				a.Get(refs[w][i/2])
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", wg.Wait)
	for w := range workers {
		for i, ref := range refs[w] {
			if got, want := string(r.Get(ref)), fmt.Sprintf("worker %d value %d", w, i); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	}
}

// Arenas may be made while the registry is closed: one of a device that is opened in the
// background may be. The race detector checks it.
func TestCloseBesideNew(t *testing.T) {
	t.Parallel()
	var r Arenas
	a := r.New()
	a.Put([]byte("value"))
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 1000 {
			r.New()
		}
	})
	for range 100 {
		r.Close()
	}
	bounded.Wait(t, "the goroutine of the test", wg.Wait)
	if n := r.Bytes(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

// account is a budget that knows how much is held.
type account struct {
	limit, held int64
	refused     int
}

var errRefused = errors.New("refused")

func (c *account) grow(n int64) error {
	if n > 0 && c.held+n > c.limit {
		c.refused++
		return errRefused
	}
	c.held += n
	return nil
}

// What was reserved is put without asking for more, whatever the sizes of the
// values and of the chunk's rest; and the budget knows of every byte.
func TestReserve(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c := account{limit: math.MaxInt64}
		r := New(budgettest.Lender(c.grow))
		a := r.New()
		want := map[uint64][]byte{}
		for range 30 {
			var vals [][]byte
			need := 0
			for range rng.IntN(50) {
				b := bytes.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(1<<rng.IntN(17)))
				vals, need = append(vals, b), need+Size(len(b))
			}
			if err := a.Reserve(need); err != nil {
				t.Fatal(err)
			}
			held := c.held
			for _, b := range vals {
				want[a.Put(b)] = b
			}
			if c.held != held || c.held != r.Bytes() {
				t.Fatalf("seed %d: %d bytes reserved, %d taken, %d held", seed, held, c.held, r.Bytes())
			}
			if rng.IntN(10) == 0 {
				a.Reset()
				clear(want)
				if c.held != 0 || r.Bytes() != 0 {
					t.Fatalf("seed %d: %d bytes held after Reset", seed, c.held)
				}
			}
		}
		for ref, b := range want {
			if !bytes.Equal(r.Get(ref), b) {
				t.Fatalf("seed %d: a value has changed", seed)
			}
		}
		r.Close()
		if c.held != 0 {
			t.Fatalf("seed %d: %d bytes held after Close", seed, c.held)
		}
	}
}

// A refused Reserve is an error and takes nothing; Puts go on, and what they
// took without leave is asked for before anything else, and freed first.
func TestRefused(t *testing.T) {
	t.Parallel()
	c := account{limit: 100_000}
	r := New(budgettest.Lender(c.grow))
	a := r.New()
	if err := a.Reserve(200_000); !errors.Is(err, errRefused) || c.held != 0 || r.Bytes() != 0 {
		t.Fatalf("error %v, %d held, %d in chunks", err, c.held, r.Bytes())
	}
	b := bytes.Repeat([]byte("x"), 1000)
	var refs []uint64
	for range 300 {
		refs = append(refs, a.Put(b))
	}
	for _, ref := range refs {
		if !bytes.Equal(r.Get(ref), b) {
			t.Fatal("a value has changed")
		}
	}
	if c.refused == 0 || r.Bytes() < 300*1000 || c.held > c.limit {
		t.Fatalf("%d refusals, %d bytes, %d held", c.refused, r.Bytes(), c.held)
	}
	if err := a.Reserve(0); !errors.Is(err, errRefused) {
		t.Fatalf("a debt is not asked for: %v", err)
	}
	c.limit = 1 << 30
	if err := a.Reserve(0); err != nil || c.held != r.Bytes() {
		t.Fatalf("error %v, %d held of %d", err, c.held, r.Bytes())
	}
	c.limit = c.held
	for range 300 {
		a.Put(b)
	}
	a.Reset()
	if c.held != 0 || r.Bytes() != 0 {
		t.Fatalf("%d held, %d in chunks after Reset", c.held, r.Bytes())
	}
}

// Chunks are appended to a section one after the other, and their values are found behind what
// was there.
func TestSectionAppend(t *testing.T) {
	t.Parallel()
	var r Arenas
	defer r.Close()
	var all, s Section
	defer all.Free()
	defer s.Free()
	var want []string
	var refs []uint64
	for round := range 60 {
		s.Reset()
		for i := range round % 7 * 50 {
			v := fmt.Sprintf("%*d", 1+i%100, round)
			want, refs = append(want, v), append(refs, s.Put([]byte(v)))
		}
		n := round % 7 * 50
		add := all.Append(s.Bytes())
		for i := len(refs) - n; i < len(refs); i++ {
			refs[i] += add
		}
		if round%10 == 0 {
			want, refs = append(want, "put"), append(refs, all.Put([]byte("put")))
		}
	}
	base := r.Adopt(all.Bytes())
	for i, ref := range refs {
		if got := string(r.Get(base + ref)); got != want[i] {
			t.Fatalf("value %d reads %q, want %q", i, got, want[i])
		}
	}
}

// A section is a chunk: adopted as it is, its values are found from its base,
// and its number is used again after Drop.
func TestAdopt(t *testing.T) {
	t.Parallel()
	var r Arenas
	defer r.Close()
	a := r.New()
	mine := a.Put([]byte("mine"))
	var s Section
	defer s.Free()
	if len(s.Bytes()) != 0 {
		t.Fatal("an empty section has bytes")
	}
	bases := map[uint64]bool{}
	for round := range 50 {
		s.Reset()
		var want []string
		var refs []uint64
		for i := range round * 20 {
			v := fmt.Sprintf("%*d", 1+i%100, i)
			want, refs = append(want, v), append(refs, s.Put([]byte(v)))
		}
		chunk := bytes.Clone(s.Bytes())
		if len(chunk) != s.Len() || len(chunk)%8 != 0 || s.Held() < s.Len() {
			t.Fatalf("a chunk of %d bytes, Len %d", len(chunk), s.Len())
		}
		base := r.Adopt(chunk)
		bases[base] = true
		for i, ref := range refs {
			if ref == 0 || ref>>32 != 0 || string(r.Get(base+ref)) != want[i] {
				t.Fatalf("round %d: value %d has ref %#x and reads %q", round, i, ref, r.Get(base+ref))
			}
			if room := cap(chunk) - int(ref)*8 - len(want[i]); room < Padding {
				t.Fatalf("%d bytes behind a value", room)
			}
		}
		if round%5 != 0 { // some stay
			r.Drop(base)
		}
	}
	if len(bases) > 15 {
		t.Errorf("%d numbers for at most 11 chunks at a time", len(bases))
	}
	if r.Bytes() != minChunk || string(a.Get(mine)) != "mine" {
		t.Errorf("%d bytes, %q", r.Bytes(), a.Get(mine))
	}
}

// Chunks come and go in some goroutines while others read theirs.
func TestResetBesideReaders(t *testing.T) {
	t.Parallel()
	var r Arenas
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			a := r.New()
			for range 30 {
				var refs []uint64
				for i := range 3000 {
					refs = append(refs, a.Put(fmt.Appendf(nil, "worker %d value %d", w, i)))
				}
				for i, ref := range refs {
					if got, want := string(a.Get(ref)), fmt.Sprintf("worker %d value %d", w, i); got != want {
						t.Errorf("got %q, want %q", got, want)
						return
					}
				}
				a.Reset()
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", wg.Wait)
	if r.Bytes() != 0 {
		t.Errorf("%d bytes held", r.Bytes())
	}
}

// A long value that is replaced by a longer one gives its memory back, if it had it alone, and
// the budget knows.
func TestReplaceAlone(t *testing.T) {
	t.Parallel()
	c := account{limit: math.MaxInt64}
	r := New(budgettest.Lender(c.grow))
	defer r.Close()
	a := r.New()
	before := a.Put([]byte("before"))
	ref := uint64(0)
	for n := Alone - 5; n < Alone+2000; n += 100 {
		if err := a.Reserve(Size(n)); err != nil {
			t.Fatal(err)
		}
		b := bytes.Repeat([]byte{byte(n)}, n)
		if ref = a.Replace(ref, b); !bytes.Equal(r.Get(ref), b) {
			t.Fatalf("%d bytes came back as others", n)
		}
		if c.held != r.Bytes() || c.held > 5*Alone {
			t.Fatalf("%d bytes: %d drawn, %d held", n, c.held, r.Bytes())
		}
	}
	if got := string(r.Get(before)); got != "before" {
		t.Errorf("the value before is %q", got)
	}
}
