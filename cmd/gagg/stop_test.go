package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/sink"
)

// The number of runs that are stopped or killed at random moments. A release
// is tried with 1000.
var stops = flag.Int("stops", 25, "how many runs are stopped, and how many are killed")

// mostToStop is how long a run may take to end after a signal. A second is the
// aim, which the test prints its distance from; it fails when a machine that
// is busy with other things would not explain it.
const mostToStop = 5 * time.Second

// trial is a run that spills, sorts and writes a file.
type trial struct {
	temp, out string
	args      []string
	took      time.Duration // about: a run that ended sooner corrects it
	whole     []byte        // the output of a run that is not stopped
}

const oldOutput = "the old content\n"

func newTrial(t *testing.T) *trial {
	if testing.Short() {
		t.Skip("many runs of whole processes")
	}
	t.Helper()
	dir := t.TempDir()
	r := &trial{temp: filepath.Join(dir, "temp"), out: filepath.Join(dir, "out", "x.csv")}
	for _, d := range []string{r.temp, filepath.Dir(r.out)} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.args = append([]string{h2oFile(t, 150_000), "--order-by", "s, id1, id2, id3, id6", "--memory-limit", "60MiB", "--temp-dir", r.temp, "-o", r.out}, allKeys...)
	p := startMeasured(t, r.args...)
	if p.status != statusDone {
		t.Fatal(p.stderr)
	}
	r.took = p.took
	whole, err := os.ReadFile(r.out)
	if err != nil {
		t.Fatal(err)
	}
	r.whole = whole
	return r
}

// start starts a run over an old output.
func (r *trial) start(t *testing.T) (c *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	if err := os.WriteFile(r.out, []byte(oldOutput), 0o600); err != nil {
		t.Fatal(err)
	}
	stderr = &bytes.Buffer{}
	c = gaggCommand(t, r.args...)
	c.Stderr = stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, stderr
}

// wait lets a run go on until a random moment, which may be after its end.
func (r *trial) wait() (waited time.Duration) {
	waited = time.Duration(rand.Float64() * 1.1 * float64(r.took))
	time.Sleep(waited)
	return waited
}

// ended notes that a run had ended before a moment. On a machine that was busier when the first run
// was measured, all moments would otherwise be too late.
func (r *trial) ended(waited time.Duration) { r.took = min(r.took, waited) }

// output reads the file of the output: the old content, or the whole answer, in which only the last
// digits of sums may differ.
func (r *trial) output(t *testing.T) (isOld bool) {
	t.Helper()
	got, err := os.ReadFile(r.out)
	if err != nil {
		t.Fatal(err)
	}
	isOld = string(got) == oldOutput
	if lines := bytes.Count(got, []byte("\n")); !isOld && lines != bytes.Count(r.whole, []byte("\n")) {
		t.Errorf("the output has %d lines", lines)
	}
	return isOld
}

// expectEmpty wants nothing in the temp folder, and nothing beside the output.
func (r *trial) expectEmpty(t *testing.T) {
	t.Helper()
	for dir, want := range map[string]int{r.temp: 0, filepath.Dir(r.out): 1} {
		if left, err := os.ReadDir(dir); err != nil || len(left) != want {
			t.Errorf("%s holds %v, %v", dir, left, err)
		}
	}
}

// F17: a signal at any moment ends a run soon: the temp folder is empty, and
// the output what it was.
func TestStop(t *testing.T) {
	r := newTrial(t)
	longest, stopped := time.Duration(0), 0
	for i := range *stops {
		c, stderr := r.start(t)
		waited := r.wait()
		signal, status, text := syscall.SIGINT, 130, "gagg: interrupted\n"
		switch i % 3 {
		case 1:
			signal, status, text = syscall.SIGTERM, 143, "gagg: terminated\n"
		case 2:
			signal, status, text = syscall.SIGQUIT, 131, "gagg: stopped by a signal: quit\n"
		}
		sent := time.Now()
		_ = c.Process.Signal(signal) // it may have ended
		_ = c.Wait()
		took := time.Since(sent)
		switch got := c.ProcessState.ExitCode(); {
		case got == statusDone && !r.output(t):
			r.ended(waited)
		case unhandled(got, stderr.String()) && r.output(t): // before the handler was there
		case got != status || stderr.String() != text || !r.output(t):
			t.Errorf("%v: status %d, %q", signal, got, stderr)
		default:
			stopped++
			longest = max(longest, took)
		}
		r.expectEmpty(t)
	}
	t.Logf("%d of %d runs of %v were stopped, in %v at most", stopped, *stops, r.took.Round(time.Millisecond), longest.Round(time.Millisecond))
	if longest > mostToStop || stopped < *stops/3 {
		t.Errorf("%d of %d runs were stopped, in %v at most", stopped, *stops, longest)
	}
}

// unhandled reports whether the runtime dealt with a signal: it ends the process by the signal, or,
// for SIGQUIT, with status 2 and the stacks of its goroutines. None of these has begun a run.
func unhandled(status int, stderr string) bool {
	return status == -1 || status == 2 && strings.HasPrefix(stderr, "SIGQUIT: quit\n") && !strings.Contains(stderr, "/gagg.run(")
}

// F17: a run that does not look up is left behind, its output removed; one
// that is about to write its output is waited for.
func TestStopGivesUp(t *testing.T) {
	for _, last := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "out.csv")
		ctx, cancel := context.WithCancel(t.Context())
		var b begun
		begins, wakes, ended := make(chan bool), make(chan bool), make(chan error, 1)
		go func() {
			<-begins
			cancel()
			if last { // untilStopped waits for it, most likely in vain for a while
				time.Sleep(grace + 50*time.Millisecond)
				close(wakes)
			}
		}()
		err := b.untilStopped(ctx, func(context.Context) error {
			f, err := sink.Create(out)
			if err != nil {
				return err
			}
			b.created(f)
			b.answers(f)
			if last {
				err = f.Commit()
			}
			close(begins)
			<-wakes
			if !last {
				err = f.Commit()
			}
			ended <- err
			return err
		})
		if !last { // it was left behind
			close(wakes)
		}
		if last && err != nil || !last && !errors.Is(err, context.Canceled) {
			t.Errorf("the last step: %v; error %v", last, err)
		}
		if err := bounded.Receive(t, "the run that was left behind", ended); !last && err == nil {
			t.Error("an output that was given up has appeared")
		}
		want := 0
		if last {
			want = 1
		}
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) != want {
			t.Errorf("the last step: %v; the folder of the output holds %v", last, left)
		}
	}
}

// F5, F18: a process that is killed at any moment leaves the output as it was
// or whole, and what it leaves in the temp folder and beside the output the
// next run removes.
func TestKillSpilling(t *testing.T) {
	r := newTrial(t)
	killed, left := 0, 0
	for range *stops {
		c, _ := r.start(t)
		waited := r.wait()
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
		if c.ProcessState.ExitCode() == statusDone {
			r.ended(waited)
		} else {
			killed++
		}
		r.output(t)
		for _, dir := range []string{r.temp, filepath.Dir(r.out)} {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			left += len(entries)
			// the output and one hidden file: what the runs before left is gone
			if len(entries) > 2 {
				t.Errorf("%s holds %v", dir, entries)
			}
		}
	}
	c, stderr := r.start(t)
	if err := c.Wait(); err != nil || r.output(t) {
		t.Errorf("the run after: %v, %s", err, stderr)
	}
	r.expectEmpty(t)
	t.Logf("%d of %d runs of %v were killed, and left %d files and folders", killed, *stops, r.took.Round(time.Millisecond), left-*stops)
	if killed < *stops/3 {
		t.Errorf("only %d of %d runs were killed", killed, *stops)
	}
}

// F6: runs that share a temp folder do not disturb each other.
func TestSharedTemp(t *testing.T) {
	r := newTrial(t)
	out := func(i int) string { return filepath.Join(filepath.Dir(r.out), fmt.Sprint(i)+filepath.Base(r.out)) }
	var runs []*exec.Cmd
	for i := range 8 {
		c := gaggCommand(t, append(r.args, "-o", out(i))...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, c)
	}
	for i, c := range runs {
		if err := c.Wait(); err != nil {
			t.Errorf("run %d: %v", i, err)
		}
		got, err := os.ReadFile(out(i))
		if err != nil || bytes.Count(got, []byte("\n")) != bytes.Count(r.whole, []byte("\n")) {
			t.Errorf("run %d: %d bytes, %v", i, len(got), err)
		}
	}
	if left, _ := os.ReadDir(r.temp); len(left) > 0 {
		t.Errorf("left in the temp folder: %v", left)
	}
}
