package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// A signal ends a run that waits for its input: with the status of the
// signal, one line, and nothing left behind.
func TestSignals(t *testing.T) {
	for signal, want := range map[syscall.Signal]struct {
		status int
		stderr string
	}{
		syscall.SIGHUP:  {129, "gagg: stopped by a signal: hangup\n"},
		syscall.SIGINT:  {130, "gagg: interrupted\n"},
		syscall.SIGQUIT: {131, "gagg: stopped by a signal: quit\n"},
		syscall.SIGTERM: {143, "gagg: terminated\n"},
	} {
		w := startWaiting(t)
		w.signal(t, signal)
		w.expectEnd(t, want.status, want.stderr)
	}
}

// F47: a signal ends a run that puts into the temp folder what comes by a pipe, and nothing stays
// there.
func TestSignalsWhilePiped(t *testing.T) {
	temp := t.TempDir()
	c := gaggCommand(t, "-a", "count(*)", "--temp-dir", temp, "-")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	input, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := input.Write(append([]byte("PAR1"), make([]byte, 3<<20)...)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the private folder", func() bool { made, _ := os.ReadDir(temp); return len(made) > 0 })
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if got := c.ProcessState.ExitCode(); got != 143 || stderr.String() != "gagg: terminated\n" {
		t.Errorf("status %d, %q", got, stderr.String())
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Where the parent ignores signals (nohup, a CI system) gagg does too: a
// hang-up leaves it running. The tests of signals do not care who started them.
func TestIgnoredSignals(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	const ignoring = `trap "" HUP INT; exec "$0" "$@"`
	w := startWaiting(t, sh, "-c", ignoring)
	w.signal(t, syscall.SIGHUP)
	w.signal(t, syscall.SIGTERM)
	w.expectEnd(t, 143, "gagg: terminated\n")

	tests := bounded.Command(t, sh, "-c", ignoring, os.Args[0], "-test.run=^TestSignals$", "-test.timeout=1m")
	if out, err := tests.CombinedOutput(); err != nil {
		t.Errorf("with signals that are ignored: %v\n%s", err, out)
	}
}

// Signals within a second are one: what the first began to remove is removed,
// however soon the second comes.
func TestRepeatedSignal(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond} {
		w := startWaiting(t)
		w.signal(t, syscall.SIGTERM)
		time.Sleep(pause)
		_ = w.Process.Signal(syscall.SIGTERM) // it may have ended
		w.expectEnd(t, 143, "gagg: terminated\n")
	}
}

// A later signal ends what the first could not, here a run that waits for
// somebody to read its stderr. Nothing is left behind then either.
func TestInsistingSignal(t *testing.T) {
	blocked := newFullPipe(t)
	w := newWaiting(t)
	w.Stderr = blocked
	w.start(t)
	w.signal(t, syscall.SIGTERM)
	time.Sleep(oneRequest + 200*time.Millisecond)
	if left, _ := os.ReadDir(w.dir); len(left) > 0 {
		t.Errorf("left by the first signal: %v", left)
	}
	if err := w.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("the run is no trial, it has ended: %v", err)
	}
	w.signal(t, syscall.SIGTERM)
	w.expectEnd(t, 143, "")
}

// newFullPipe is the end of a pipe that takes no more.
func newFullPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	if err := w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Skipf("pipes have no deadlines: %v", err)
	}
	for err == nil {
		_, err = w.Write(make([]byte, 4096))
	}
	return w
}

// F17: timeout(1) signals the process, and its group at once.
func TestTimeout(t *testing.T) {
	timeout, err := exec.LookPath("timeout")
	if err != nil {
		t.Skip("no timeout(1)")
	}
	r := newTrial(t)
	stopped, runs := 0, *stops/2
	for i := range runs {
		if err := os.WriteFile(r.out, []byte(oldOutput), 0o600); err != nil {
			t.Fatal(err)
		}
		after := r.took * time.Duration(i+1) / time.Duration(runs)
		c := bounded.Command(t, timeout, append([]string{strconv.FormatFloat(after.Seconds(), 'f', 3, 64), os.Args[0]}, r.args...)...)
		c.Env = asCommand
		var stderr bytes.Buffer
		c.Stderr = &stderr
		_ = c.Run()
		// as timeout says that it sent its signals
		if c.ProcessState.ExitCode() == 124 && r.output(t) {
			stopped++
		}
		r.expectEmpty(t)
	}
	if stopped < runs/3 {
		t.Errorf("only %d of %d runs of %v were stopped", stopped, runs, r.took)
	}
}

// waiting is a run that waits for its input, with an output begun.
type waiting struct {
	*exec.Cmd
	dir    string // of the output
	stderr bytes.Buffer
}

// newWaiting makes such a run, by way of a command that starts it.
func newWaiting(t *testing.T, by ...string) *waiting {
	t.Helper()
	w := &waiting{dir: t.TempDir()}
	args := append(by, os.Args[0], "-a", "count(*)", "-", "-o", filepath.Join(w.dir, "out.csv"))
	w.Cmd = bounded.Command(t, args[0], args[1:]...)
	w.Env, w.Stderr = asCommand, &w.stderr
	return w
}

// start returns when the hidden output shows that the run has begun.
func (w *waiting) start(t *testing.T) {
	t.Helper()
	input, err := w.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = input.Close() })
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the hidden output", func() bool { hidden, _ := os.ReadDir(w.dir); return len(hidden) > 0 })
}

func startWaiting(t *testing.T, by ...string) *waiting {
	t.Helper()
	w := newWaiting(t, by...)
	w.start(t)
	return w
}

func (w *waiting) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := w.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func (w *waiting) expectEnd(t *testing.T, status int, stderr string) {
	t.Helper()
	_ = w.Wait()
	if got := w.ProcessState.ExitCode(); got != status || w.stderr.String() != stderr {
		t.Errorf("status %d, %q; want %d, %q", got, w.stderr.String(), status, stderr)
	}
	if left, _ := os.ReadDir(w.dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
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
		command := gaggCommand(t, append(query, "-o", path)...)
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

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute in vain for %s", what)
		}
	}
}
