//go:build unix

package main

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Completion does not open a pipe: it can be read only once, and may have no writer.
func TestCompletePipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	started := time.Now()
	if _, got := completed(t, "-k", "§", fifo); len(got) > 0 || time.Since(started) > completionTime {
		t.Errorf("%q after %v", got, time.Since(started))
	}
}
