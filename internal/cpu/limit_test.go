package cpu

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// Of many groups of which few are wanted workers keep few, the wanted ones among them.
func TestFirst(t *testing.T) {
	const rows, batch, wanted = 200_000, 1000, 10
	var in batches
	for at := range rows / batch {
		b := column.Batch{Rows: batch, First: int64(at * batch), Cols: make([]column.Vector, 1)}
		v := column.Vector{Type: int64Type, Len: batch}
		for i := range batch {
			v.Int = append(v.Int, int64(at*batch+i)%(rows/2))
		}
		b.Cols[0] = v
		in = append(in, b)
	}
	hashes := func(bare bool, first int) []uint64 {
		l := key.NewLayout([]key.Column{{Type: int64Type}})
		if bare {
			l.OmitHash()
		}
		cfg := configIn(l, 0, feedback.DefaultTableConfig, noLimit)
		cfg.Limit = first
		g, err := cfg.group(t.Context(), Input{
			Units: len(in), Reader: func() Reader { return &batchReader{all: in} },
			Pipeline: func() Pipeline {
				return Pipeline{Used: []int{0}, Keys: []Evaluator{columnAt(0)}, Args: []Evaluator{columnAt(0)}}
			},
			Done: func(int, int64) {},
		}, 3)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		var all []uint64
		for _, b := range g.Buckets {
			for p := range b.Partitions() {
				inPlace := make([]uint64, b.InPlaceRows(p)*cfg.Stride)
				b.CopyInPlace(inPlace, p)
				for _, page := range b.Pages([][]uint64{inPlace}, p) {
					for at := 0; at < len(page); at += cfg.Stride {
						all = append(all, l.RowHash(page[at:]))
					}
				}
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	for _, bare := range []bool{false, true} {
		all, some := hashes(bare, 0), hashes(bare, wanted)
		if len(all) != rows/2 || len(some) > 4*limitLeast*3 || len(some) < wanted || !slices.Equal(some[:wanted], all[:wanted]) {
			t.Errorf("bare: %t: %d groups of %d", bare, len(some), len(all))
		}
	}
}
