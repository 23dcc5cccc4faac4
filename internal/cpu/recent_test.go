package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// RECENT: each row of a batch has a group of its key, among those since the table was last emptied,
// whatever keys came before, also where all hashes begin alike; and a key that has come shortly
// before has the same group again.
func TestRecent(t *testing.T) {
	for name, c := range map[string]struct {
		cols []key.Column
		hash uint64 // bits that hashes have
	}{
		"one word":      {[]key.Column{{Type: int64Type, Filled: true}}, ^uint64(0)},
		"two words":     {[]key.Column{{Type: int64Type, Filled: true}, {Type: int64Type, Filled: true}}, ^uint64(0)},
		"strings":       {[]key.Column{{Type: stringType}, {Type: int64Type}}, ^uint64(0)},
		"equal entries": {[]key.Column{{Type: int64Type, Filled: true}}, 1<<32 - 1},
		"equal hashes":  {[]key.Column{{Type: stringType}, {Type: int64Type}}, 0},
	} {
		t.Run(name, func(t *testing.T) { testRecent(t, c.cols, c.hash) })
	}
}

func testRecent(t *testing.T, cols []key.Column, bits uint64) {
	cfg := configOf(cols, 1, feedback.NoTables, noLimit)
	defer cfg.Arenas.Close()
	w, err := cfg.run().NewWorker(Pipeline{})
	if err != nil {
		t.Fatal(err)
	}
	tab := w.table
	if err := tab.cache(64 << 10); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 100
	emptied, again := 0, 0
	for range 200 {
		if tab.secure(n) != nil { // it is full
			tab.empty()
			emptied++
		}
		batch := recentBatch(rng, cols, n)
		w.encoder.Encode(batch, n)
		if err := w.store.room(w.encoder.LongBytes()); err != nil {
			t.Fatal(err)
		}
		for i := range w.encoder.Hash {
			w.encoder.Hash[i] &= bits
		}
		groups := make([]uint32, n)
		before := tab.n
		firstNew := tab.find(w.encoder, groups)
		if firstNew != before || int(tab.n)*cfg.Stride != len(tab.rows.Rows) {
			t.Fatalf("new groups from %d on, there were %d; %d groups in %d words", firstNew, before, tab.n, len(tab.rows.Rows))
		}
		for i, g := range groups {
			if g >= tab.n || !tab.same(g, w.encoder, i) || tab.rows.Rows[int(g)*cfg.Stride] != w.encoder.Hash[i] {
				t.Fatalf("row %d has group %d of %d, which is another key's", i, g, tab.n)
			}
			if g < firstNew {
				again++
			}
		}
	}
	if emptied == 0 || bits == ^uint64(0) && again == 0 {
		t.Errorf("emptied %d times, %d rows found the group of a batch before", emptied, again)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
}

// recentBatch is keys of which many come again, in a batch and in the next ones.
func recentBatch(rng *rand.Rand, cols []key.Column, n int) []column.Vector {
	out := make([]column.Vector, len(cols))
	for i, c := range cols {
		if c.Type == stringType {
			strs := make([]string, n)
			for k := range strs {
				strs[k] = randomKey(rng, 3000)
			}
			out[i] = stringVector(strs)
			continue
		}
		out[i] = column.Vector{Type: c.Type, Len: n}
		for range n {
			// 0 is among them, as in memory that was never written
			out[i].Int = append(out[i].Int, rng.Int64N(3000)>>rng.IntN(8))
		}
	}
	return out
}

// A table that is to be kept in the cache, and is refused more memory, takes as much as it had.
func TestRecentRefused(t *testing.T) {
	held, most := int64(0), int64(math.MaxInt64)
	tab, err := newTable(3, 1, make([]uint64, 3), budgettest.Lender(func(bytes int64) error {
		if bytes > 0 && held+bytes > most {
			return budgettest.Refused()
		}
		held += bytes
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	most = held
	if err := tab.cache(1 << 20); err != nil || tab.secure(1) != nil || held != most {
		t.Errorf("%v; %d bytes are held of %d", err, held, most)
	}
	most = 0
	if err := tab.cache(1 << 20); err == nil {
		t.Error("memory was not refused")
	}
	tab.drop()
	if held != 0 {
		t.Errorf("%d bytes are held at the end", held)
	}
}
