package extsort

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/spill"
)

// benchTable is rows like those of question 10 of db-benchmark: short strings,
// small integers, and a float, by which or by a string they are sorted.
func benchTable(rows int, by column.Type) *table {
	rng := rand.New(rand.NewPCG(1, 1))
	str, i32, f64 := column.Type{Kind: column.String}, column.Type{Kind: column.Int32}, column.Type{Kind: column.Float64}
	tb := &table{terms: []Term{{Type: by, Desc: true}}, cols: []column.Type{str, str, i32, i32, f64}}
	for ; rows > 0; rows -= 4096 {
		n := min(rows, 4096)
		text := column.Vector{Type: str, Len: n}
		small, sums := column.Vector{Type: i32, Len: n}, column.Vector{Type: f64, Len: n}
		for range n {
			s := fmt.Sprintf("id%010d", rng.IntN(1e7))
			text.Span = append(text.Span, column.Span{Off: uint32(len(text.Data)), Len: uint32(len(s))})
			text.Data = append(text.Data, s...)
			small.Int = append(small.Int, rng.Int64N(1e5))
			sums.Float = append(sums.Float, rng.Float64()*1000)
		}
		text.Data = append(text.Data, make([]byte, column.SpanPadding)...)[:len(text.Data)]
		key := sums
		if by == str {
			key = text
		}
		tb.order = append(tb.order, []column.Vector{key})
		tb.out = append(tb.out, []column.Vector{text, text, small, small, sums})
	}
	return tb
}

func BenchmarkSort(b *testing.B) {
	const rows = 1e6
	for _, by := range []column.Type{{Kind: column.Float64}, {Kind: column.String}} {
		tb := benchTable(rows, by)
		for _, limit := range []int64{0, 4 << 20, 64 << 20} {
			b.Run(fmt.Sprintf("rows=1e6/by=%s/limit=%dMiB", by, limit>>20), func(b *testing.B) {
				for b.Loop() {
					benchSort(b, tb, limit)
				}
				b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

func benchSort(b *testing.B, tb *table, limit int64) {
	var l ledger
	l.limit.Store(limit)
	c := Config{Terms: tb.terms, Cols: tb.cols, Keep: -1, Budget: budgettest.Lender(l.grow), Memory: limit}
	disk, err := spill.Open(spill.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	if limit > 0 {
		c.Spill = disk.File
	}
	s := New(c)
	for i := range tb.out {
		if err := s.Add(b.Context(), uint64(i)<<16, tb.order[i], tb.out[i], tb.rows(i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Finish(b.Context()); err != nil {
		b.Fatal(err)
	}
	m := NewMerger([]*Sorter{s}, 4096, 4<<20, nil)
	for {
		batch, err := m.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if batch == nil {
			break
		}
	}
	m.Close()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	if err := disk.Close(); err != nil {
		b.Fatal(err)
	}
}
