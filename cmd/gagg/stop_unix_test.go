//go:build unix

package main

import (
	"syscall"
	"testing"
	"time"
)

// F19: a process that stands still for a while goes on as if nothing had
// been: nothing in the way of the data has a time-out.
func TestSuspended(t *testing.T) {
	r := newTrial(t)
	c, stderr := r.start(t)
	for range 5 {
		time.Sleep(r.took / 8)
		_ = c.Process.Signal(syscall.SIGSTOP) // it may have ended
		time.Sleep(100 * time.Millisecond)
		_ = c.Process.Signal(syscall.SIGCONT)
	}
	if err := c.Wait(); err != nil || r.output(t) {
		t.Errorf("%v, %s", err, stderr)
	}
	r.expectEmpty(t)
}
