package evict

import (
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// With any memory of a lane, its sets and the pieces of its sender stay within it, most of it is in
// use, and chains keep to the limits of package partition.
func TestPlan(t *testing.T) {
	for _, l := range []ega.Layout{
		{Hash: true, KeyWords: 1, Ops: []combine.Op{combine.Add}},
		{Hash: true, KeyWords: 2, Ops: []combine.Op{combine.Add, combine.MaxInt, combine.MinInt}},
		{Hash: true, KeyWords: 8, Ops: make([]combine.Op, 16)},
		{Hash: true, KeyWords: ega.MaxKeyWords, Ops: make([]combine.Op, combine.MaxWords)},
	} {
		for _, rows := range []int{1, 1000, 30_000, 1 << 20, 1 << 24} {
			least := LeastMemory(&l, rows)
			for memory := least; memory <= 100<<30; memory = memory*5/4 + 12345 {
				checkPlan(t, &l, memory, rows)
			}
		}
	}
}

func checkPlan(t *testing.T, l *ega.Layout, memory cuda.Size, rows int) {
	t.Helper()
	pages, pieces := share(l, memory, rows)
	if pages+pieces > memory || pieces < leastSendBytes(l) {
		t.Errorf("%v, %d rows: %v for pages, %v for pieces", memory, rows, pages, pieces)
	}
	sets, each := planSets(l, pages, rows)
	taken := each.fixed(l, rows) + cuda.Size(each.pages)*(each.page+poolPerPage)
	if all := cuda.Size(sets) * taken; all > pages {
		t.Errorf("%v, %d rows: %d of %+v take %v of %v", memory, rows, sets, each, all, pages)
	} else if memory >= 1<<20 && taken < setBytes*9/10 && all < pages*9/10 {
		t.Errorf("%v, %d rows: %d of %+v take no more than %v of %v", memory, rows, sets, each, all, pages)
	}
	if each.pages < each.least(l, rows) || each.pageRows(l) < poolPageRows {
		t.Errorf("%v, %d rows: %+v has no room for an append", memory, rows, each)
	}
	// CHAIN_NUMBER_BITS
	if most := uint64(each.pages) + each.bound(l, uint64(rows)); most > 1<<21-2 {
		t.Errorf("%v, %d rows: %+v has up to %d pages at a time", memory, rows, each, most)
	}
}
