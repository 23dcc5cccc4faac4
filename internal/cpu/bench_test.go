package cpu

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// stringsOf is n strings of groups different ones, each of the given length.
func stringsOf(rng *rand.Rand, n, groups, length int) column.Vector {
	v := column.Vector{Type: column.Type{Kind: column.String}, Len: n}
	for range n {
		s := fmt.Sprintf("%s%0*d", strings.Repeat("p", max(0, length-10)), min(10, length), rng.IntN(groups))
		v.Span = append(v.Span, column.Span{Off: uint32(len(v.Data)), Len: uint32(len(s))})
		v.Data = append(v.Data, s...)
	}
	v.Data = append(v.Data, make([]byte, column.SpanPadding)...)[:len(v.Data)]
	return v
}

// BenchmarkWorker is one worker's sum by one key, through its table or
// directly into buckets.
func BenchmarkWorker(b *testing.B) {
	const rows, nbatches = 4096, 64
	for _, length := range []int{0, 15, 16, 200} { // 0: an integer
		for _, groups := range []int{1000, 1 << 40} {
			for _, tile := range []feedback.TableConfig{{MinRows: 1 << 62}, feedback.NoTables} {
				name := fmt.Sprintf("key=%d/groups=%d/scatter=%t", length, groups, tile == feedback.NoTables)
				rng := rand.New(rand.NewPCG(1, 2))
				var in batches
				for range nbatches {
					k := stringsOf(rng, rows, groups, length)
					if length == 0 {
						k = column.Vector{Type: int64Type, Len: rows}
						for range rows {
							k.Int = append(k.Int, rng.Int64N(int64(groups))<<20)
						}
					}
					in = append(in, column.Batch{Rows: rows, Cols: []column.Vector{k, {Type: int64Type, Len: rows, Int: make([]int64, rows)}}})
				}
				b.Run(name, func(b *testing.B) { benchWorker(b, in, tile) })
			}
		}
	}
}

func benchWorker(b *testing.B, in batches, tile feedback.TableConfig) {
	cfg := configOf([]key.Column{{Type: in[0].Cols[0].Type}}, 16, tile, noLimit)
	pipe := Pipeline{Used: []int{0, 1}, Keys: []Evaluator{columnAt(0)}, Args: []Evaluator{columnAt(1)}}
	for b.Loop() {
		w, err := cfg.run().NewWorker(pipe)
		if err != nil {
			b.Fatal(err)
		}
		for i := range in {
			if err := w.Add(&in[i]); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Finish(4, nil); err != nil {
			b.Fatal(err)
		}
		if err := w.store.close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(in)*in[0].Rows), "ns/row")
}
