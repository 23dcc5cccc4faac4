package key

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// Match leaves the groups whose keys are those of their rows, with one or several fields of all
// kinds, where most keys are the same and where few are.
func TestMatch(t *testing.T) {
	t.Parallel()
	const none = math.MaxUint32
	left, gone := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 8))
		cols := []Column{{Type: stringType}}
		for range rng.IntN(3) {
			cols = append(cols, Column{Type: append(types, stringType)[rng.IntN(len(types)+1)], Intern: rng.IntN(2) == 0})
		}
		if seed%4 == 0 {
			cols = []Column{{Type: column.Type{Kind: column.Int64}}, {Type: stringType}}
		}
		u := newTuples(rng, cols, 200)
		var reg arena.Arenas
		flat := slices.Concat(rows(u.encode(rng), reg.New())...)
		e := u.encode(rng)
		groups := make([]uint32, len(u.text))
		for i := range groups {
			switch groups[i] = uint32(i); rng.IntN(4) {
			case 0:
				groups[i] = uint32(rng.IntN(len(groups)))
			case 1:
				groups[i] = none
			}
		}
		got := slices.Clone(groups)
		e.Match(got, none, flat, 1+u.layout.Words, 1, &reg)
		for i, g := range groups {
			want := none == g
			if g != none {
				want = u.text[i] != u.text[g]
			}
			switch {
			case (got[i] == none) != want || !want && got[i] != g:
				t.Fatalf("seed %d: row %d, %q, of group %d: %d", seed, i, u.text[i], g, got[i])
			case got[i] == none:
				gone++
			default:
				left++
			}
		}
		reg.Close()
	}
	if left < 1000 || gone < 1000 {
		t.Errorf("%d groups are left, %d are not: too few", left, gone)
	}
}
