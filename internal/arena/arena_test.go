package arena

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

func TestPutGet(t *testing.T) {
	var r Arenas
	a := r.New()
	if got := r.Get(0); got != nil {
		t.Errorf("Get(0) = %q, want nil", got)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[uint64][]byte{}
	for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 1000, firstChunk, lastChunk, 3 * lastChunk, 0, 5} {
		for range 20 {
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

// A long run of replacements of growing and shrinking values must take space
// in proportion to the longest of them.
func TestReplaceReusesSpace(t *testing.T) {
	var r Arenas
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
	if r.Bytes() > firstChunk {
		t.Errorf("%d bytes for values of at most 1000", r.Bytes())
	}
}

// Refs of all workers resolve in one registry.
func TestWorkersShareRegistry(t *testing.T) {
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
	wg.Wait()
	for w := range workers {
		for i, ref := range refs[w] {
			if got, want := string(r.Get(ref)), fmt.Sprintf("worker %d value %d", w, i); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	}
}
