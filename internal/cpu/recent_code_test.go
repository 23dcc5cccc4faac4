package cpu

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// RECENT-CODE: each row has a group of its key, and rows of one code the same group until the table
// is emptied or another dictionary comes. Other dictionaries, flat keys and refusals of memory may
// come between, and the numbers of groups may begin anew.
func TestRecentCode(t *testing.T) {
	for name, typ := range map[string]column.Type{"integers": int64Type, "strings": stringType} {
		for _, first := range []uint32{1, lastNumber - 5000} {
			t.Run(name, func(t *testing.T) { testRecentCode(t, typ, first) })
		}
	}
}

func testRecentCode(t *testing.T, typ column.Type, first uint32) {
	refusal, refuse := budgettest.Refused(), false
	cfg := configOf([]key.Column{{Type: typ, Filled: true}}, 1, feedback.NoTables, budgettest.Lender(func(bytes int64) error {
		if bytes > 0 && refuse {
			return refusal
		}
		return nil
	}))
	defer cfg.Arenas.Close()
	w, err := cfg.run().NewWorker(Pipeline{Keys: columnsOf(1)})
	if err != nil {
		t.Fatal(err)
	}
	w.recentCodes = recentCodes{first: first, groups: make([]uint32, 1<<12)}
	for i := range w.recentCodes.groups {
		w.recentCodes.groups[i] = (first - 1) % 1000 // of a group long ago
	}
	tab := w.table
	if err := tab.cache(256 << 10); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	dicts := make([]*column.Dict, 5)
	for i := range dicts {
		values := recentBatch(rng, []key.Column{{Type: typ}}, 1<<(3*i))[0]
		dicts[i] = &column.Dict{Values: values}
	}
	const n = 200
	byCode, dict, refused, emptied := map[int32]uint32{}, dicts[4], 0, 0
	for step := range 3000 {
		switch rng.IntN(20) {
		case 0:
			if next := dicts[rng.IntN(len(dicts))]; next != dict {
				dict = next
				clear(byCode)
			}
		case 1:
			w.keys[0] = recentBatch(rng, []key.Column{{Type: typ}}, n)[0]
			if _, err := w.find(n); err != nil && !errors.Is(err, errTableFull) {
				t.Fatal(err)
			}
		}
		if tab.secure(n) != nil || rng.IntN(50) == 0 {
			w.recentCodes.emptied(tab.n)
			tab.empty()
			clear(byCode)
			emptied++
		}
		w.keys[0] = column.Vector{Type: typ, Len: n, Dict: dict}
		for range n {
			w.keys[0].Codes = append(w.keys[0].Codes, int32(rng.IntN(dict.Len())))
		}
		if refuse = rng.IntN(10) == 0; refuse {
			w.store.arena.Reset() // no text of the table is looked at again
			w.recentCodes.emptied(tab.n)
			tab.empty()
			clear(byCode)
		}
		before := tab.n
		from, err := w.find(n)
		refuse = false
		if err != nil {
			refused++
			if !errors.Is(err, refusal) || tab.n != before {
				t.Fatalf("%d groups, there were %d; %v", tab.n, before, err)
			}
			clear(byCode)
			continue
		}
		if from != before || int(tab.n)*cfg.Stride != len(tab.rows.Rows) {
			t.Fatalf("new groups from %d on, there were %d; %d groups in %d words", from, before, tab.n, len(tab.rows.Rows))
		}
		w.encoder.Encode(w.keys, n)
		for i, g := range w.groups {
			if g >= tab.n || !tab.same(g, w.encoder, i) || tab.rows.Rows[int(g)*cfg.Stride] != w.encoder.Hash[i] {
				t.Fatalf("step %d: row %d has group %d of %d, which is another key's", step, i, g, tab.n)
			}
			code := w.keys[0].Codes[i]
			if old, ok := byCode[code]; ok && old != g || !ok && g < before {
				t.Fatalf("step %d: code %d has group %d, not %d", step, code, g, old)
			}
			byCode[code] = g
		}
	}
	if emptied == 0 || typ == stringType && refused == 0 {
		t.Errorf("emptied %d times, refused %d times", emptied, refused)
	}
	if w.recentCodes.first > lastNumber {
		t.Errorf("groups are numbered from %d on", w.recentCodes.first)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
}
