package main

import (
	"context"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// grace is the time that a run gets to end in order after it was stopped. Nearly all runs end in a
// few milliseconds. A run that sorts the values of a huge group, or waits for a disk, would not
// notice for long. Then the process ends without it, and this file removes what the run would have
// removed.
const grace = 700 * time.Millisecond

// begun has the parts of a run that are visible from outside.
type begun struct {
	mu     sync.Mutex
	files  []givenUp
	answer givenUp // the one of them that has the result; nil: none
	bar    *bar    // nil: no progress is shown
}

// givenUp is an output that can be left as it was: a file or a tree of them.
type givenUp interface{ GiveUp() bool }

// created notes an output.
func (b *begun) created(f givenUp) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.files = append(b.files, f)
}

// answers notes which output has the result.
func (b *begun) answers(f givenUp) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = f
}

// giveUp leaves all outputs that are not final as they were. It returns false if the answer cannot
// be given up because it is final or about to appear: then the run is about to end.
func (b *begun) giveUp() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	could := true
	for _, f := range b.files {
		if !f.GiveUp() && f == b.answer {
			could = false
		}
	}
	b.bar.finish()
	return could
}

// untilStopped runs do until it returns, or until the grace after the end of
// ctx is over.
func (b *begun) untilStopped(ctx context.Context, do func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- invariant.Fenced(func() error { return do(ctx) }) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
	}
	if !b.giveUp() { // it is at its last step
		select {
		case err := <-done:
			return err
		case <-insisted(ctx):
		}
	}
	return context.Cause(ctx)
}
