package firstpass_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/firstpass"
)

// Tiles whose rows are nearly all of different groups go to the table row by row, those with
// frequent keys through shared memory, and as the one kind follows on the other, each is noticed.
// The groups are right in any case.
func TestStrategy(t *testing.T) {
	const most = 160 // tiles
	random := rand.New(rand.NewPCG(5, 6))
	layouts := []ega.Layout{passLayouts[0], passLayouts[2], egatest.EveryOp}
	if testing.Short() {
		layouts = layouts[:1] // under sanitizers one layout will do: only numbers of rows decide
	}
	for _, l := range layouts {
		rows := 5_000 / int(l.RowBytes()) // of a tile
		distinct := egatest.Rows(random, &l, most/2*rows, func(i int) uint64 { return uint64(i) })
		// a quarter: 0
		frequent := egatest.Rows(random, &l, most/2*rows, func(i int) uint64 { return uint64(i % 4 * i) })
		few := egatest.Rows(random, &l, most/2*rows, func(i int) uint64 { return uint64(i % 50) })
		for _, c := range []struct {
			name           string
			rows           []uint64
			groups         uint64
			fewest, direct uint64 // tiles that go row by row
		}{
			{"few", few, 50, 0, 0},
			{"frequent", frequent, 100_000, 0, 0},
			{"distinct", distinct, 100_000, most / 4, most / 2},
			{"distinct, frequent", slices.Concat(distinct, frequent), 100_000, most / 4, most/2 + 36},
			{"frequent, distinct", slices.Concat(frequent, distinct), 100_000, most / 4, most / 2},
		} {
			t.Run(fmt.Sprintf("%s/keys=%d", c.name, l.KeyWords), func(t *testing.T) {
				r := newRig(t)
				p := passRig{config: firstpass.Config{
					Layout: l, Streams: 1, Depth: 2, SlotBytes: rows * int(l.RowBytes()), Device: 16 << 20, Groups: c.groups,
				}}
				p.feed = func(m *firstpass.Pass) error { return feedPart(m, &l, c.rows) }
				r.Do(p.run(r.Thread.Context(), c.rows))
				p.check(t, c.rows)
				if d := p.stats.Direct; d < c.fewest || d > c.direct {
					t.Errorf("%d tiles went row by row, want %d to %d: %+v", d, c.fewest, c.direct, p.stats)
				}
			})
		}
	}
}
