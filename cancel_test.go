package gagg_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg"
)

// lookedAt is a context that counts how often it is asked whether it was cancelled. From the time
// `last` on it is.
type lookedAt struct {
	context.Context
	mu    sync.Mutex
	looks int
	last  int
	done  chan struct{}
}

func (c *lookedAt) Done() <-chan struct{} { return c.done }

func (c *lookedAt) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	if c.looks < c.last {
		return nil
	}
	if c.looks == c.last {
		close(c.done)
	}
	return context.Canceled
}

// read runs a query to its end.
func (c *lookedAt) read(q gagg.Query, o gagg.Options) error {
	rows, err := gagg.Run(c, q, o)
	if err != nil {
		return err
	}
	defer rows.Release()
	for rows.Next() {
	}
	return rows.Err()
}

// F17: a context that is cancelled while the values of one group are sorted, deduped or put out
// ends the run before that is done.
func TestCancelWithinGroup(t *testing.T) {
	const rows, never = 200_000, 1 << 60
	file := gagg.Files(randomFile(t, rows))
	for _, o := range []gagg.Options{{Threads: 1, Device: "cpu"}, {Threads: 1, Device: "cpu", MemoryLimit: 24 << 20}} {
		plain := &lookedAt{Context: context.Background(), last: never, done: make(chan struct{})}
		if err := plain.read(gagg.Query{From: file, Aggs: exprs("count(x)")}, o); err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{"mode(x)", "histogram(x)", "list(x)", "quantile_disc(k, 0.5)", "entropy(k)"} {
			q := gagg.Query{From: file, Aggs: exprs(call)}
			all := &lookedAt{Context: context.Background(), last: never, done: make(chan struct{})}
			if err := all.read(q, o); err != nil {
				t.Fatalf("%s: %v", call, err)
			}
			more := all.looks - plain.looks
			if more < 3 {
				t.Errorf("%s of %d values: %d looks", call, rows, more)
			}
			ended := &lookedAt{Context: context.Background(), last: all.looks - more/2, done: make(chan struct{})}
			if err := ended.read(q, o); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: cancelled at look %d of %d: error %v", call, ended.last, all.looks, err)
			}
		}
	}
}
