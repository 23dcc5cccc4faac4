package expr

import (
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Random expressions, one a part of another, give in a group what they give alone, batch after
// batch.
func TestGroup(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		a, b := randomNumber(r, 2), randomNumber(r, 2)
		binder, group := NewBinder(testLookup), NewGroup()
		var alone, grouped []*Eval
		for _, text := range []string{a, "(" + a + ") + 1", b, "(" + b + ") * (" + a + ")", "case when (" + a + ") > 0 then " + b + " end", a} {
			n, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			e, err := binder.Bind(n, text)
			if plain, errPlain := Bind(n, text, testLookup); (err == nil) != (errPlain == nil) {
				t.Fatalf("seed %d: %s: %v, alone %v", seed, text, err, errPlain)
			} else if err == nil {
				alone, grouped = append(alone, plain.NewEval()), append(grouped, group.NewEval(e))
			}
			if err == nil && r.IntN(2) == 0 {
				grouped[len(grouped)-1].TakeNarrow()
			}
		}
		for _, rows := range []int{20, 1, 0, 33} {
			data := randomRows(r, rows, false)
			batch := data.batch(r, r.IntN(2) == 0)
			group.Begin(batch)
			for i := range alone {
				var want, got column.Vector
				errWant, errGot := alone[i].Eval(batch, &want), grouped[i].Eval(batch, &got)
				if (errWant == nil) != (errGot == nil) {
					t.Fatalf("seed %d: %v, alone %v", seed, errGot, errWant)
				}
				for row := 0; errWant == nil && row < rows; row++ {
					if w, g := want.At(row), got.At(row); w != g && (w.Float == w.Float || g.Float == g.Float) {
						t.Fatalf("seed %d, %s, row %d: %+v, alone %+v", seed, alone[i].root.node.typ, row, g, w)
					}
				}
			}
		}
	}
}

// What expressions of one Binder share is one node, and computed once a batch.
func TestGroupShares(t *testing.T) {
	t.Parallel()
	binder, group := NewBinder(testLookup), NewGroup()
	bind := func(text string) *Expr { return bindBy(t, binder, text) }
	part, whole := bind("p * (1 - w)"), bind("p*(1-w) * (1 + j)")
	times := 0
	kernel := part.root.kernel
	part.root.kernel = func(f *frame) error {
		times++
		return kernel(f)
	}
	evals := []*Eval{group.NewEval(whole), group.NewEval(part)}
	data := randomRows(rand.New(rand.NewPCG(1, 1)), 9, false)
	for range 3 {
		batch := data.batch(rand.New(rand.NewPCG(1, 1)), false)
		group.Begin(batch)
		for _, e := range evals {
			var out column.Vector
			if err := e.Eval(batch, &out); err != nil {
				t.Fatal(err)
			}
		}
	}
	if times != 3 {
		t.Errorf("the part was computed %d times for 3 batches", times)
	}
}
