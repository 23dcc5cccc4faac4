package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A run that was stopped by a signal normally ends within the time `grace`. A second signal is for
// a run that does not:
//
//	0                    first signal: the context ends
//	up to oneRequest     others mean the same: timeout(1) signals the process and
//	                     then its group, a shell its job and a terminal all of it
//	after it, or SIGQUIT another one: no more waiting, not even for a last step;
//	                     what is left to remove gets lastGrace, then the process ends
const (
	oneRequest = time.Second
	lastGrace  = 500 * time.Millisecond
)

// interruption is the cause of a context that a signal cancelled.
type interruption struct {
	signal syscall.Signal
	again  chan struct{} // closed when a later signal insists
}

// insisted returns a channel that is closed when a later signal insists on the end of ctx.
func insisted(ctx context.Context) <-chan struct{} {
	var by *interruption
	if errors.As(context.Cause(ctx), &by) {
		return by.again
	}
	return nil
}

func (e *interruption) Error() string {
	switch e.signal {
	case syscall.SIGINT:
		return "interrupted"
	case syscall.SIGTERM:
		return "terminated"
	}
	return "stopped by a signal: " + e.signal.String()
}

// status is the exit status by which a shell knows the signal.
func (e *interruption) status() int { return 128 + int(e.signal) }

// withSignals returns a context that ends at the first SIGINT, SIGTERM, SIGHUP or
// SIGQUIT (Ctrl-\), so that the run can remove what it has begun. A signal that was
// ignored when the process started (nohup, a background job) stays ignored. SIGQUIT
// leaves no core and no stack of the runtime's, unless GAGG_DEBUG=1 asks for one.
//
// SIGPIPE is ignored: a write to a closed pipe then returns EPIPE, which ends
// the run in order instead of leaving a half-written file beside the output.
//
// It is for the life of the process: a signal that arrives while the process
// ends must not change its exit status.
func withSignals(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signal.Ignore(syscall.SIGPIPE)
	received := make(chan os.Signal, 2)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) && (s != syscall.SIGQUIT || os.Getenv("GAGG_DEBUG") != "1") {
			signal.Notify(received, s)
		}
	}
	go func() {
		first := &interruption{signal: (<-received).(syscall.Signal), again: make(chan struct{})}
		cancel(first)
		for began := time.Now(); ; {
			if again := <-received; again == syscall.SIGQUIT || time.Since(began) > oneRequest {
				close(first.again)
				time.Sleep(lastGrace)
				os.Exit(first.status())
			}
		}
	}()
	return ctx
}
