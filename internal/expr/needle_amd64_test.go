package expr

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/cpu"
)

func TestIndexPair(t *testing.T) {
	t.Parallel()
	if !cpu.X86.HasAVX2 {
		t.Skip("no AVX2")
	}
	r := rand.New(rand.NewPCG(8, 8))
	for range 20_000 {
		n := r.IntN(8) * pairStep
		p, q := letters(r, n, 7), letters(r, n, 7)
		for i := range p {
			if r.IntN(10) > 0 {
				p[i] = 'x'
			}
		}
		a, b := letters(r, 1, 7)[0], letters(r, 1, 7)[0]
		if got, want := indexPairAVX2(p, q, a, b), indexPairGeneric(p, q, a, b); got != want {
			t.Fatalf("%q in %q and %q in %q: %d, want %d", a, p, b, q, got, want)
		}
	}
}
