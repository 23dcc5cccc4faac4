package gagg_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// panicking is an observer with a bug.
type panicking struct{}

func (panicking) Progress(p gagg.Progress) {
	if p.Phase == gagg.PhaseScan {
		panic("a bug")
	}
}

// A panic in a worker is an error of the run, and the worker's table, store and tile are freed.
func TestWorkerPanics(t *testing.T) {
	file := gagg.Files(randomFile(t, 50_000))
	for _, by := range [][]string{{"k"}, nil} {
		q := gagg.Query{From: file, By: by, Aggs: exprs("sum(x), median(x), count(distinct x)")}
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprintf("by=%v/threads=%d", by, threads), func(t *testing.T) {
				o := gagg.Options{Threads: threads, Device: "cpu", MemoryLimit: 256 << 20, TempDir: t.TempDir(), Observer: panicking{}}
				rows, held, err := gagg.RunHeld(context.Background(), q, o)
				if err == nil {
					rows.Release()
				}
				var bug *invariant.PanicError
				if !errors.As(err, &bug) || len(bug.Stack) == 0 {
					t.Errorf("error %v, want a panic and its stack", err)
				}
				if bytes := held(); bytes != 0 {
					t.Errorf("%d bytes are held after the run", bytes)
				}
			})
		}
	}
}
