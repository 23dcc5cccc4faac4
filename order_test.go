package gagg_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/spill/spilltest"
)

// shaped is a table of internal/datagen in memory.
func shaped(t *testing.T, s datagen.Shape) gagg.Source {
	t.Helper()
	var b bytes.Buffer
	if err := s.WriteParquet(&b); err != nil {
		t.Fatal(err)
	}
	return gagg.Parquet(s.Kind, bytes.NewReader(b.Bytes()), int64(b.Len()))
}

// leastLimit is the smallest memory limit that a query runs with, with one
// thread.
func leastLimit(t *testing.T, q gagg.Query, o gagg.Options) int64 {
	t.Helper()
	o.MemoryLimit = 1
	_, err := answer(t, q, o)
	var need *gagg.NeedError
	if !errors.As(err, &need) {
		t.Fatal(err)
	}
	return need.Need
}

// An ordered result that is many times the memory limit comes out in order
// and whole, all of it or as much as is wanted.
func TestOrderedResultBeyondTheLimit(t *testing.T) {
	var tuned tune
	rows := int64(300_000)
	if testing.Short() {
		rows = 60_000
		tuned = tune{gagg.LeastMemory(1 << 20)}
	}
	from := shaped(t, datagen.Shape{Kind: "wide", Rows: rows, Groups: rows, Seed: 2})
	for _, c := range []struct {
		name  string
		by    string
		order string
		limit int64
	}{
		{"by long strings", "k", "k desc", 0},
		{"best half", "k", "n, k", rows / 2},
	} {
		if testing.Short() && c.limit == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			q := gagg.Query{From: from, By: []string{c.by}, Aggs: exprs("count(*) as n"), OrderBy: []string{c.order}, Limit: c.limit}
			want := mustAnswer(t, q, tuned.of(gagg.Options{}))
			size := 0
			for _, line := range want {
				size += len(line)
			}
			limit := leastLimit(t, q, tuned.of(gagg.Options{}))
			if c.limit == 0 && int64(size) < 2*limit {
				t.Fatalf("%d bytes of result are too few", size)
			}
			got, spilled, _, err := limited(t, q, tuned.of(gagg.Options{Threads: 2, MemoryLimit: limit}))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d rows that differ from the %d of an unlimited run, %v", len(got), len(want), err)
			}
			if spilled == 0 {
				t.Error("nothing was spilled")
			}
		})
	}
}

// Rows that are equal stay in the order that they have without order by,
// whatever the threads, the partitions and the limit.
func TestTiesStayInOrder(t *testing.T) {
	var tuned tune
	rows, little, more := 60_000, int64(12<<20), int64(40<<20)
	if testing.Short() {
		rows, little, more = 20_000, 2<<20, 6<<20
		tuned = tune{gagg.LeastMemory(1 << 20)}
	}
	q := gagg.Query{From: gagg.Files(randomFile(t, rows)), By: []string{"k", "i"}, Aggs: exprs("count(*)", "i % 3 as m")}
	want := mustAnswer(t, q, tuned.of(gagg.Options{}))
	rest := func(line string) int {
		n, err := strconv.Atoi(line[strings.LastIndexByte(line, '|')+1:])
		if err != nil {
			return 1 << 30 // NULL is last
		}
		return n
	}
	slices.SortStableFunc(want, func(a, b string) int { return rest(a) - rest(b) })
	q.OrderBy = []string{"m"}
	for _, o := range []gagg.Options{
		{Threads: 1}, {Threads: 4}, {Threads: 3, Partitions: 512}, {Threads: 1, MemoryLimit: little}, {Threads: 4, MemoryLimit: more},
	} {
		o = tuned.of(o)
		limits := []int64{0, 1, 5000, 1 << 30}
		if testing.Short() {
			limits = []int64{0, 5000}
		}
		for _, limit := range limits {
			q.Limit = limit
			most := len(want)
			if limit > 0 {
				most = min(most, int(limit))
			}
			if got, _, _, err := limited(t, q, o); err != nil || !slices.Equal(got, want[:most]) {
				t.Errorf("%+v, limit %d: another order or other rows (%d and %d), %v", o, limit, len(got), most, err)
			}
		}
	}
}

// An offset passes over the rows that come first, with an order and without,
// in memory and on disk: what is left is the rest of the answer without it.
func TestOffset(t *testing.T) {
	var tuned tune
	rows, little := 60_000, int64(12<<20)
	if testing.Short() {
		rows, little = 20_000, 2<<20
		tuned = tune{gagg.LeastMemory(1 << 20)}
	}
	from := gagg.Files(randomFile(t, rows))
	for _, order := range [][]string{nil, {"m", "k desc"}} {
		q := gagg.Query{From: from, By: []string{"k", "i"}, Aggs: exprs("count(*)", "i % 3 as m"), OrderBy: order}
		all := mustAnswer(t, q, tuned.of(gagg.Options{}))
		n := int64(len(all))
		for _, c := range []struct{ offset, limit int64 }{
			{0, 3}, {1, 1}, {5, 0}, {n / 2, 100}, {n - 1, 0}, {n - 1, 5}, {n, 0}, {n + 1, 1}, {math.MaxInt64, math.MaxInt64}, {10, gagg.NoRows},
		} {
			q.Offset, q.Limit = c.offset, c.limit
			want := all[min(c.offset, n):]
			switch {
			case c.limit == gagg.NoRows:
				want = nil
			case c.limit > 0:
				want = want[:min(c.limit, int64(len(want)))]
			}
			for _, o := range []gagg.Options{{Threads: 1}, {Threads: 4, Partitions: 64}, {Threads: 1, MemoryLimit: little}} {
				o = tuned.of(o)
				if got, _, _, err := limited(t, q, o); err != nil || !slices.Equal(got, want) {
					t.Errorf("order %v, offset %d, limit %d, %+v: %d rows that differ from the %d wanted, %v", order, c.offset, c.limit, o, len(got), len(want), err)
				}
			}
		}
	}
	if _, err := answer(t, gagg.Query{From: from, By: []string{"k"}, Offset: -1}, tuned.of(gagg.Options{})); !errors.Is(err, gagg.ErrUsage) {
		t.Errorf("an offset below 0: %v", err)
	}
}

// Lists and maps are sorted by and carried along on disk too.
func TestOrderedListsBeyondTheLimit(t *testing.T) {
	var tuned tune
	rows, limit := 120_000, int64(16<<20)
	if testing.Short() {
		rows, limit = 20_000, 4<<20
		tuned = tune{gagg.LeastMemory(1 << 20)}
	}
	from := gagg.Files(randomFile(t, rows))
	for _, order := range []string{"l desc, h nulls first", "h, k desc"} {
		q := gagg.Query{From: from, By: []string{"k"}, Aggs: exprs("list(s) as l", "histogram(i % 5) as h"), OrderBy: []string{order}}
		want := mustAnswer(t, q, tuned.of(gagg.Options{}))
		got, spilled, _, err := limited(t, q, tuned.of(gagg.Options{Threads: 2, MemoryLimit: limit}))
		if err != nil || !slices.Equal(got, want) || spilled == 0 {
			t.Errorf("%s: %d rows that differ from the %d of an unlimited run, %d bytes spilled, %v", order, len(got), len(want), spilled, err)
		}
	}
}

// Cancelling ends an ordered result at once, before its first record or
// after.
func TestCancelOrdered(t *testing.T) {
	q := gagg.Query{From: gagg.Files(randomFile(t, 60_000)), By: []string{"k", "i"}, Aggs: exprs("count(*)"), OrderBy: []string{"k desc"}}
	for _, limit := range []int64{0, 12 << 20} {
		for records := range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			rows, held, err := gagg.RunHeld(ctx, q, gagg.Options{Threads: 2, MemoryLimit: limit, TempDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			for range records {
				if !rows.Next() {
					t.Fatal(rows.Err())
				}
			}
			cancel()
			for n := 0; rows.Next(); n++ {
				if n > 2 { // one may be waiting, and one be made
					t.Fatalf("limit %d: record %d after cancelling", limit, n)
				}
			}
			if err := rows.Err(); !errors.Is(err, context.Canceled) {
				t.Errorf("limit %d, after %d records: %v", limit, records, err)
			}
			rows.Release()
			if n := held(); n != 0 {
				t.Errorf("limit %d: %d bytes are held", limit, n)
			}
		}
	}
}

// A disk that fails while rows are sorted or merged is an error that says so.
func TestOrderedDiskFaults(t *testing.T) {
	var tuned tune
	rows := int64(100_000)
	if testing.Short() {
		rows = 25_000
		tuned = tune{gagg.LeastMemory(1 << 20)}
	}
	q := gagg.Query{From: shaped(t, datagen.Shape{Kind: "wide", Rows: rows, Groups: rows, Seed: 2}), By: []string{"k"}, Aggs: exprs("count(*)"), OrderBy: []string{"k"}}
	o := tuned.of(gagg.Options{Threads: 2, MemoryLimit: leastLimit(t, q, tuned.of(gagg.Options{}))})
	counting := spilltest.New()
	if _, spilled, _, err := limited(t, q, gagg.Tuned(o, gagg.SpillFS(counting))); err != nil || spilled == 0 {
		t.Fatalf("without faults: %d bytes spilled, %v", spilled, err)
	}
	for _, fault := range []spilltest.Fault{
		{Op: spilltest.Write, Err: syscall.ENOSPC, Forever: true},
		{Op: spilltest.Write, Err: syscall.EIO},
		{Op: spilltest.Read, Err: syscall.EIO},
		{Op: spilltest.Read, Flip: true},
	} {
		last := counting.Count(fault.Op)
		counts := []int{last / 2, last * 9 / 10}
		if testing.Short() {
			counts = counts[:1]
		}
		for _, fault.N = range counts {
			t.Run(fmt.Sprintf("%s %d of %d", fault.Op, fault.N, last), func(t *testing.T) {
				fs := spilltest.New(fault)
				_, _, _, err := limited(t, q, gagg.Tuned(o, gagg.SpillFS(fs)))
				if fs.Injected() > 0 && err == nil {
					t.Error("no error")
				}
				if errors.Is(fault.Err, syscall.ENOSPC) && err != nil && !errors.Is(err, gagg.ErrBudget) {
					t.Errorf("%v is not of the kind ErrBudget", err)
				}
				if fs.Opened() != 0 {
					t.Errorf("%d files are open", fs.Opened())
				}
			})
		}
	}
}

// Rows say what they are sorted by: the first terms of OrderBy that are columns of them, by name
// or number, in any letter case.
func TestRowsSorted(t *testing.T) {
	count := gagg.Expr("count(*) as n")
	for _, c := range []struct {
		q    gagg.Query
		want []gagg.SortColumn
	}{
		{gagg.Query{}, nil},
		{gagg.Query{OrderBy: []string{"N desc nulls first, region", "count(*)"}}, []gagg.SortColumn{{"n", true, true}, {"region", false, false}}},
		{gagg.Query{OrderBy: []string{"2", "sum(quantity)", "region"}}, []gagg.SortColumn{{"n", false, false}}},
		{gagg.Query{OrderBy: []string{"n % 7", "region"}}, nil},
		{gagg.Query{OrderBy: []string{"region"}, Totals: true}, nil},
	} {
		c.q.From, c.q.By, c.q.Aggs = gagg.Files("testdata/orders.parquet"), []string{"region"}, []gagg.Agg{count}
		rows, err := gagg.Run(t.Context(), c.q, gagg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := rows.Sorted(); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.q.OrderBy, got, c.want)
		}
		rows.Release()
	}
}
