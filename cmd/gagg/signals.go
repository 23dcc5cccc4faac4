package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interruption is the cause of a context that a signal cancelled.
type interruption struct {
	signal syscall.Signal
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

// withSignals returns a context that ends at the first SIGINT, SIGTERM or
// SIGHUP, so that the run can remove what it has begun. The second signal
// ends the process at once. A signal that was ignored when the process
// started (nohup, a background job) stays ignored.
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
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(received, s)
		}
	}
	go func() {
		for first := true; ; first = false {
			cause := &interruption{signal: (<-received).(syscall.Signal)}
			if !first {
				os.Exit(cause.status())
			}
			cancel(cause)
		}
	}()
	return ctx
}
