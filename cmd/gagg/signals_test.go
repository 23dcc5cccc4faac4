package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A signal ends a run that waits for its input: with the status of the
// signal, one line, and nothing left behind. The hidden output shows that the
// run has begun.
func TestSignals(t *testing.T) {
	for signal, want := range map[syscall.Signal]struct {
		status int
		stderr string
	}{
		syscall.SIGINT:  {130, "gagg: interrupted\n"},
		syscall.SIGTERM: {143, "gagg: terminated\n"},
	} {
		dir := t.TempDir()
		command := exec.Command(os.Args[0], "-a", "count(*)", "-", "-o", filepath.Join(dir, "out.csv"))
		command.Env = []string{asCommand}
		var stderr bytes.Buffer
		command.Stderr = &stderr
		input, err := command.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { hidden, _ := os.ReadDir(dir); return len(hidden) > 0 })
		if err := command.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = command.Wait()
		_ = input.Close()
		if got := command.ProcessState.ExitCode(); got != want.status || stderr.String() != want.stderr {
			t.Errorf("%v: status %d, %q; want %d, %q", signal, got, stderr.String(), want.status, want.stderr)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%v: left behind: %v", signal, left)
		}
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}
