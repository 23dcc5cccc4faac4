package main

import (
	"context"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// grace is how long a run that was stopped gets to end in order. Nearly all
// do in a few milliseconds; one that sorts the values of a huge group, or
// waits for a disk, would not look up for long. It is then left behind: the
// process ends, and what it would have removed is removed here.
const grace = 700 * time.Millisecond

// begun is what a run has begun that is seen from outside.
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

// giveUp leaves all outputs as they were, as far as they are not final. It
// reports whether the answer is none of these: if it is about to appear, so
// is the end of the run.
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
