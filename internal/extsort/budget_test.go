package extsort

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// Whatever the budget, the number of sorters and of rows wanted, the result
// is the same.
func TestSortsInAnyBudget(t *testing.T) {
	types := allTypes()
	spilled := 0
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var terms []column.Type
		for range 1 + rng.IntN(4) {
			terms = append(terms, types[rng.IntN(len(types))])
		}
		tb := randomTable(rng, terms, 30)
		want := tb.sorted(t)
		for _, limit := range []int64{0, 48 << 10, 200 << 10} {
			for _, keep := range []int64{-1, 0, 100, math.MaxInt64} {
				sorters := 1 + rng.IntN(3)
				h := newHarness(t, tb, keep, limit, sorters, nil)
				got, _, err := h.run(t.Context(), t, tb, sorters)
				most := int64(len(want))
				if keep >= 0 {
					most = min(most, keep)
				}
				if err != nil || int64(len(got)) < most || !slices.Equal(got[:most], want[:most]) {
					t.Fatalf("seed %d, limit %d, keep %d, %d sorters: %d rows of %d, %v%s",
						seed, limit, keep, sorters, len(got), most, err, difference(got, want))
				}
				if h.disk != nil && h.disk.RawBytes() > 0 {
					spilled++
				}
			}
		}
	}
	if spilled < 20 {
		t.Errorf("only %d tables were spilled", spilled)
	}
}

// Rows that are many times the budget are merged in several passes, with no
// more memory than the budget grants.
func TestSeveralPasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	tb := randomTable(rng, []column.Type{{Kind: column.Int64}, {Kind: column.String}}, 400)
	want := tb.sorted(t)
	const limit = 48 << 10
	h := newHarness(t, tb, -1, limit, 1, nil)
	got, runs, err := h.run(t.Context(), t, tb, 1)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d rows of %d, %v%s", len(got), len(want), err, difference(got, want))
	}
	bytes := int64(0)
	for b := range tb.out {
		in := newInput(h.cfg)
		if err := in.set(tb.order[b], tb.out[b], tb.rows(b)); err != nil {
			t.Fatal(err)
		}
		for _, n := range in.sizes {
			bytes += int64(n)
		}
	}
	if written := h.disk.RawBytes(); written < 2*bytes || runs < 2 {
		t.Errorf("%d bytes of rows made %d bytes on disk, in %d runs at the end: not several passes", bytes, written, runs)
	}
	if peak := h.ledger.peak.Load(); peak > limit {
		t.Errorf("%d bytes drawn of %d", peak, limit)
	}
}

// wideTable has strings of up to most bytes, among short ones.
func wideTable(rng *rand.Rand, most, batches int, byWide bool) *table {
	str := column.Type{Kind: column.String}
	tb := &table{cols: []column.Type{str, column.ListOf(str)}, terms: []Term{{Type: str}}}
	wide := func(n int) column.Vector {
		v := column.Vector{Type: str, Len: n}
		for range n {
			size := rng.IntN(10)
			if rng.IntN(4) == 0 {
				size = rng.IntN(most)
			}
			v.Span = append(v.Span, column.Span{Off: uint32(len(v.Data)), Len: uint32(size)})
			v.Data = append(v.Data, strings.Repeat(string(rune('a'+rng.IntN(26))), size)...)
		}
		v.Data = slices.Grow(v.Data, column.SpanPadding)
		return v
	}
	for range batches {
		n := rng.IntN(20)
		key := randomVector(rng, str, n)
		if byWide {
			key = wide(n)
		}
		tb.order = append(tb.order, []column.Vector{key})
		tb.out = append(tb.out, []column.Vector{wide(n), randomVector(rng, column.ListOf(str), n)})
	}
	return tb
}

// Rows wider than a block or a page are sorted too, and so are
// keys that are not wider than a part of the memory.
func TestWideRows(t *testing.T) {
	for _, c := range []struct {
		name   string
		most   int
		limit  int64
		byWide bool
	}{
		{"than a block", 8 << 10, 64 << 10, false},
		{"than a page", 40 << 10, 256 << 10, false},
		{"than half of the memory", 200 << 10, 384 << 10, false},
		{"keys than a block", 8 << 10, 128 << 10, true},
		{"without limit", 3 << 20, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := wideTable(rand.New(rand.NewPCG(1, uint64(c.most))), c.most, 10, c.byWide)
			want := tb.sorted(t)
			for _, keep := range []int64{-1, int64(len(want) / 2)} {
				h := newHarness(t, tb, keep, c.limit, 2, nil)
				got, _, err := h.run(t.Context(), t, tb, 2)
				if keep >= 0 && err == nil {
					got = got[:keep]
				}
				if err != nil || !slices.Equal(got, want[:len(got)]) || keep < 0 && len(got) != len(want) {
					t.Errorf("keep %d: %d rows of %d, %v", keep, len(got), len(want), err)
				}
				if c.limit > 0 && h.disk.RawBytes() == 0 {
					t.Errorf("keep %d: nothing was spilled", keep)
				}
			}
		})
	}
}

// A key, or another value, for which there is no memory is the budget's error, and everything is
// given back.
func TestNoMemoryForARow(t *testing.T) {
	for _, key := range []bool{true, false} {
		tb := wideTable(rand.New(rand.NewPCG(1, 1)), 500<<10, 3, key)
		h := newHarness(t, tb, -1, 64<<10, 1, nil)
		if _, _, err := h.run(t.Context(), t, tb, 1); !errors.Is(err, errRefused) {
			t.Errorf("error %v", err)
		}
	}
}

// A row that is longer than its length can say is an error.
func TestRowTooWide(t *testing.T) {
	str := column.Type{Kind: column.String}
	elem := &column.Vector{Type: str, Len: 5, Data: make([]byte, 1<<30)[:1<<30-column.SpanPadding]}
	for range elem.Len {
		elem.Span = append(elem.Span, column.Span{Len: uint32(len(elem.Data))})
	}
	list := column.Vector{Type: column.ListOf(str), Len: 1, Elem: elem, Span: []column.Span{{Len: 5}}}
	s := New(Config{Cols: []column.Type{list.Type}, Keep: -1, Budget: budget.Or(nil)})
	var tooWide *RowError
	if err := s.Add(t.Context(), 0, nil, []column.Vector{list}, 1); !errors.As(err, &tooWide) || tooWide.Bytes < 5*(1<<30-column.SpanPadding) {
		t.Errorf("error %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// More rows than a unit has come out in order; with a limit only about twice
// as many as are wanted stay in memory, or the bound keeps the rest away.
func TestManyRows(t *testing.T) {
	const rows = unitRows * 5 / 4
	i64 := column.Type{Kind: column.Int64}
	for _, c := range []struct {
		name        string
		keep, limit int64
		peak        int64 // bytes; 0: does not matter
	}{
		{"all", -1, 0, 0},
		{"best of all", 1000, 0, 6 << 20},
		{"best half", rows / 2, 0, 0},
		{"all in little", -1, 1 << 20, 1 << 20},
		{"best in little", 1000, 1 << 20, 1 << 20},
		{"best half in little", rows / 2, 1 << 20, 1 << 20},
		{"best, with no room to copy them", 30_000, 8 << 20, 8 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 5))
			numbers := rng.Perm(rows)
			tb := &table{terms: []Term{{Type: i64}}, cols: []column.Type{i64}}
			h := newHarness(t, tb, c.keep, c.limit, 1, nil)
			live := hostmem.Live()
			s := New(h.cfg)
			for at := 0; at < rows; at += 4096 {
				v := column.Vector{Type: i64, Len: min(4096, rows-at)}
				for _, n := range numbers[at : at+v.Len] {
					v.Int = append(v.Int, int64(n))
				}
				if err := s.Add(t.Context(), uint64(at), []column.Vector{v}, []column.Vector{v}, v.Len); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			m := NewMerger([]*Sorter{s}, 4096, 1<<20, nil)
			next := int64(0)
			for {
				b, err := m.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if b == nil {
					break
				}
				for _, x := range b.Cols[0].Int {
					if x != next && (c.keep < 0 || next < c.keep) {
						t.Fatalf("%d instead of %d", x, next)
					}
					next++
				}
			}
			if want := int64(rows); c.keep < 0 && next != want || next < c.keep {
				t.Errorf("%d rows", next)
			}
			if peak := h.ledger.peak.Load(); c.peak > 0 && peak > c.peak {
				t.Errorf("%d bytes drawn, more than %d", peak, c.peak)
			}
			m.Close()
			if err := errors.Join(s.Close(), closeDisk(h)); err != nil || h.ledger.used.Load() != 0 {
				t.Errorf("%v, %d bytes not given back", err, h.ledger.used.Load())
			}
			if n := hostmem.Live() - live; n != 0 {
				t.Errorf("%d bytes of buffers were not freed", n)
			}
		})
	}
}

func closeDisk(h *harness) error {
	if h.disk == nil {
		return nil
	}
	return h.disk.Close()
}

// addNumbers adds rows of one number each to a sorter, in this order.
func addNumbers(t *testing.T, s *Sorter, place int, numbers ...int64) {
	t.Helper()
	v := column.Vector{Type: column.Type{Kind: column.Int64}, Len: len(numbers), Int: numbers}
	if err := s.Add(t.Context(), uint64(place), []column.Vector{v}, []column.Vector{v}, v.Len); err != nil {
		t.Fatal(err)
	}
}

// A row that comes late and is just better than the last of those wanted so
// far takes its place; one that is just worse does not.
func TestBound(t *testing.T) {
	const keep = 100
	i64 := column.Type{Kind: column.Int64}
	tb := &table{terms: []Term{{Type: i64}}, cols: []column.Type{i64}}
	for _, limit := range []int64{0, 256 << 10} {
		h := newHarness(t, tb, keep, limit, 1, nil)
		s := New(h.cfg)
		var even []int64
		for i := range int64(pruneRows + 3*keep) {
			even = append(even, 2*i)
		}
		addNumbers(t, s, 0, even...)
		if s.bound == nil || s.rows > pruneRows {
			t.Errorf("limit %d: no bound is known with %d rows in memory", limit, s.rows)
		}
		rows := s.rows
		addNumbers(t, s, len(even), 2*keep-1, 2*keep-3, 2*keep-2)
		if s.rows > rows+1 {
			t.Errorf("limit %d: rows beyond the bound were kept", limit)
		}
		if err := s.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := NewMerger([]*Sorter{s}, keep, 1<<20, nil)
		b, err := m.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Cols[0].Int[keep-2:]; !slices.Equal(got, []int64{2*keep - 4, 2*keep - 3}) {
			t.Errorf("limit %d: the last rows wanted are %d", limit, got)
		}
		m.Close()
		if err := errors.Join(s.Close(), closeDisk(h)); err != nil {
			t.Error(err)
		}
	}
}

// What a sorter took beyond its memory, because nobody else wanted it, it
// gives back when it has spilled.
func TestBeyondItsMemory(t *testing.T) {
	i64 := column.Type{Kind: column.Int64}
	h := newHarness(t, &table{terms: []Term{{Type: i64}}, cols: []column.Type{i64}}, -1, 64<<10, 1, nil)
	h.ledger.limit.Store(1 << 20)
	s := New(h.cfg)
	for place := 0; h.disk.RawBytes() == 0; place += 100 {
		addNumbers(t, s, place, make([]int64, 100)...)
	}
	if peak := h.ledger.peak.Load(); peak < 900<<10 {
		t.Errorf("only %d bytes were taken of what was granted", peak)
	}
	if held := h.ledger.used.Load(); held > h.cfg.Memory {
		t.Errorf("%d bytes are held after spilling, more than %d", held, h.cfg.Memory)
	}
	if err := errors.Join(s.Close(), h.disk.Close()); err != nil {
		t.Error(err)
	}
}
