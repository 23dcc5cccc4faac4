package gagg_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// spillCase is a query that spills when its limit is low.
type spillCase struct {
	name  string
	query gagg.Query
	tuned tune
}

// spillCases are queries whose groups go to disk by different strategies. A short run has a sixth
// of the rows, and workers have less memory, so that as many blocks are written.
func spillCases(t *testing.T) []spillCase {
	rows, tuned := 120_000, tune(nil)
	if testing.Short() {
		rows = 20_000
		tuned = tune{gagg.LeastMemory(1 << 20)}
	}
	file := gagg.Files(randomFile(t, rows))
	return []spillCase{
		{"groups", gagg.Query{From: file, By: []string{"k", "i"}, Aggs: exprs("count(*)", "sum(x)", "min(s)")}, tuned},
		{"values", gagg.Query{From: file, By: []string{"i"}, Aggs: exprs("median(x)", "max(k)", "list(s)")}, tuned},
		{"one group", gagg.Query{From: file, Aggs: exprs("median(x)", "mode(k)")}, tuned},
		{"sorted", gagg.Query{From: file, By: []string{"k", "i"}, Aggs: exprs("sum(x) as n"), OrderBy: []string{"n desc", "k"}, Limit: 100}, tuned},
	}
}

// limited runs a query that may only spill to an empty folder, and checks that
// it leaves nothing: files, memory. started is whether Run gave rows.
func limited(t *testing.T, q gagg.Query, o gagg.Options) (lines []string, spilled int64, started bool, err error) {
	t.Helper()
	temp := t.TempDir()
	lines, spilled, started, err = limitedTo(t.Context(), t, temp, q, o)
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left in the temp folder: %v", left)
	}
	return lines, spilled, started, err
}

// limitedTo is limited with the folder, which it does not look at.
func limitedTo(ctx context.Context, t *testing.T, temp string, q gagg.Query, o gagg.Options) (lines []string, spilled int64, started bool, err error) {
	t.Helper()
	o.TempDir = temp
	live := hostmem.Live()
	rows, held, err := gagg.RunHeld(ctx, q, o)
	if err == nil {
		started = true
		for rows.Next() {
			lines = append(lines, linesOf(rows.Record().Columns())...)
		}
		err = rows.Err()
		spilled = rows.Stats().SpilledBytes
		rows.Release()
		err = errors.Join(err, releaseError(rows, err))
	}
	if n := held(); n != 0 {
		t.Errorf("%d bytes of the memory limit are still held", n)
	}
	if n := hostmem.Live() - live; n != 0 {
		t.Errorf("%d bytes of buffers were not freed", n)
	}
	return lines, spilled, started, err
}

// releaseError is the error that Release has found, beside the one before it.
func releaseError(rows *gagg.Rows, before error) error {
	if err := rows.Err(); before == nil {
		return err
	}
	return nil
}

// F12: whatever the limit, from nothing to plenty, a query has the same
// answer or fails at the start; it never fails halfway for want of memory.
func TestMemoryLimits(t *testing.T) {
	for _, c := range spillCases(t) {
		t.Run(c.name, func(t *testing.T) {
			want := mustAnswer(t, c.query, c.tuned.of(gagg.Options{Threads: 2}))
			ran := false
			limits := []int64{1, 1 << 10, 1 << 20, 4 << 20, 6 << 20, 7 << 20, 8 << 20, 12 << 20, 32 << 20, 1 << 30}
			if testing.Short() {
				limits = []int64{1 << 20, 2 << 20, 5 << 19, 3 << 20, 32 << 20}
			}
			for _, limit := range limits {
				for _, threads := range []int{1, 3} {
					got, spilled, started, err := limited(t, c.query, c.tuned.of(gagg.Options{Threads: threads, MemoryLimit: limit}))
					switch {
					case started && err != nil:
						t.Errorf("limit %d, %d threads: it failed halfway: %v", limit, threads, err)
					case !started && (!errors.Is(err, gagg.ErrBudget) || ran):
						t.Errorf("limit %d, %d threads: error %v", limit, threads, err)
					case started && !slices.Equal(got, want):
						t.Errorf("limit %d, %d threads: %d rows that differ from the %d of an unlimited run", limit, threads, len(got), len(want))
					case started && !ran && spilled == 0:
						t.Errorf("limit %d, %d threads: nothing was spilled", limit, threads)
					}
					ran = ran || started
				}
			}
		})
	}
}

// F12: the limit that an error names as enough is the least that is, whatever
// the number of threads asked for.
func TestNeedIsEnough(t *testing.T) {
	for _, c := range spillCases(t) {
		_, _, _, err := limited(t, c.query, c.tuned.of(gagg.Options{Threads: 4, MemoryLimit: 1}))
		var need *gagg.NeedError
		if !errors.As(err, &need) || need.Limit != 1 {
			t.Fatalf("%s: error %v", c.name, err)
		}
		least := need.Need
		if _, _, _, err := limited(t, c.query, c.tuned.of(gagg.Options{Threads: 4, MemoryLimit: least})); err != nil {
			t.Errorf("%s: %d bytes were said to be enough: %v", c.name, least, err)
		}
		if _, _, _, err := limited(t, c.query, c.tuned.of(gagg.Options{Threads: 4, MemoryLimit: least - 1})); !errors.As(err, &need) || need.Need != least {
			t.Errorf("%s: %d bytes were said to be needed: %v", c.name, least, err)
		}
	}
}

// F17: a context that is cancelled at any moment ends a run that spills, and
// everything is let go.
func TestCancelSpilling(t *testing.T) {
	wanted := 4
	if testing.Short() {
		wanted = 2
	}
	for _, c := range spillCases(t) {
		o := c.tuned.of(gagg.Options{Threads: 2, MemoryLimit: leastLimit(t, c.query, c.tuned.of(gagg.Options{}))})
		started := time.Now()
		if _, _, _, err := limited(t, c.query, o); err != nil {
			t.Fatal(err)
		}
		// A run takes a multiple of another's time where other processes compete with it. One
		// that ends first says that the moments have to be earlier.
		latest, ended := time.Since(started), 0
		for cancelled := 0; cancelled < wanted; {
			after := time.Duration(rand.Float64() * float64(latest))
			if cancelledAfter(t, c, o, after) {
				cancelled++
				continue
			}
			if latest, ended = after, ended+1; ended == 30 {
				t.Fatalf("%s: %d runs had ended before they were cancelled, the last within %v", c.name, ended, after)
			}
		}
	}
}

// cancelledAfter runs a query whose context ends after a while, and checks that it leaves
// nothing. It reports whether the context ended first.
func cancelledAfter(t *testing.T, c spillCase, o gagg.Options, after time.Duration) bool {
	t.Helper()
	temp := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	_, _, _, err := limitedTo(ctx, t, temp, c.query, o)
	if left, _ := os.ReadDir(temp); len(left) > 0 || err != nil && (!errors.Is(err, context.DeadlineExceeded) || !isKind(err, nil)) {
		t.Errorf("%s: after %v: error %v, left in the temp folder: %v", c.name, after, err, left)
	}
	return err != nil
}
