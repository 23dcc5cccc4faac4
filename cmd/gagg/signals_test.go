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
		syscall.SIGHUP:  {129, "gagg: stopped by a signal: hangup\n"},
		syscall.SIGINT:  {130, "gagg: interrupted\n"},
		syscall.SIGTERM: {143, "gagg: terminated\n"},
	} {
		dir := t.TempDir()
		command := exec.Command(os.Args[0], "-a", "count(*)", "-", "-o", filepath.Join(dir, "out.csv"))
		command.Env = asCommand
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

// F21: whenever the process is killed, the output is what it was, or whole.
func TestKill(t *testing.T) {
	orders, err := filepath.Abs("../../testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	query := []string{"-k", "customer,ordered_at,product", "-a", "sum(price)", orders}
	whole := startMeasured(t, append(query, "-f", "csv")...)
	path := filepath.Join(t.TempDir(), "out.csv")
	const old = "the old content\n"
	seen := map[bool]int{}
	for i := range 12 {
		if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.Command(os.Args[0], append(query, "-o", path)...)
		command.Env = asCommand
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(whole.took * time.Duration(i) / 10)
		_ = command.Process.Kill()
		_ = command.Wait()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != old && string(got) != whole.stdout {
			t.Fatalf("killed after %d/10 of its time: %d bytes of output, %v", i, len(got), err)
		}
		seen[string(got) == old]++
	}
	if seen[true] == 0 {
		t.Error("every run had ended before it was killed")
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}
