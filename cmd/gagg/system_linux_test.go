package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// These tests need root, and a system that lets it mount and make control
// groups. Elsewhere they are skipped: injected faults (gagg.TestSpillFaults)
// and made-up systems (TestMemoryAllowed) show the same.

// F1: a temp folder that is full ends a run with status 5, leaves it as empty
// as it was, and the output untouched.
func TestTempFull(t *testing.T) {
	if testing.Short() {
		t.Skip("the memory of the race detector is in no budget")
	}
	full, out := t.TempDir(), filepath.Join(t.TempDir(), "out.csv")
	if err := unix.Mount("gagg-test", full, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	defer func() {
		if err := unix.Unmount(full, 0); err != nil {
			t.Error(err)
		}
	}()
	file := h2oFile(t, 250_000)
	p := startMeasured(t, append([]string{file, "--memory-limit", "60MiB", "--temp-dir", full, "-o", out}, allKeys...)...)
	want := "gagg: temp folder " + full + ": no space after "
	if p.status != statusBudget || !strings.HasPrefix(p.stderr, want) || !strings.Contains(p.stderr, "spilled; free space, or give --temp-dir or more memory\n") {
		t.Errorf("status %d, %s", p.status, p.stderr)
	}
	for _, dir := range []string{full, filepath.Dir(out)} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s holds %v, %v", dir, left, err)
		}
	}
}

// F13: in a control group of 96 MiB a run without any flag keeps within it:
// it spills, and is not killed.
func TestControlGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("the memory of the race detector is in no budget")
	}
	group := newGroup(t, 96*mib)
	file, temp, stats := h2oFile(t, 600_000), t.TempDir(), filepath.Join(t.TempDir(), "stats.json")
	args := append([]string{file, "-f", "none", "--temp-dir", temp, "--stats=" + stats}, allKeys...)
	c := bounded.Command(t, "sh", append([]string{"-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(group, "cgroup.procs"), os.Args[0]}, args...)...)
	c.Env = asCommand
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	text, err := os.ReadFile(stats)
	if err != nil || strings.Contains(string(text), `"spilled_bytes":0,`) {
		t.Errorf("nothing was spilled: %s, %v", text, err)
	}
}

// newGroup makes a control group of version 1 or 2 with a memory limit.
func newGroup(t *testing.T, limit int64) string {
	t.Helper()
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		group := filepath.Join(root, fmt.Sprintf("gagg-test-%d", os.Getpid()))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) }) // one that is busy stays
		// not made: the folder may be none of a control group
		f, err := os.OpenFile(filepath.Join(group, file), os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		_, err = fmt.Fprint(f, limit)
		if err := errors.Join(err, f.Close()); err == nil {
			return group
		}
	}
	t.Skip("a control group with a memory limit cannot be made")
	return ""
}
