package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// Under a limit of address space or data the default memory limit is one that
// fits, also where more was asked for; where none fits the run ends with 5 and
// one line. Nothing ends in a stack of the runtime, which the limits here let begin.
func TestLimitedSpace(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector maps terabytes")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	file := h2oFile(t, 250_000)
	for _, c := range []struct {
		limit string // of ulimit, in KiB
		flags []string
		ends  []int // statuses
	}{
		{"-v 3000000", nil, []int{statusDone}},
		{"-v 3000000", []string{"--memory-limit", "100GiB"}, []int{statusDone}},
		{"-v 2000000", nil, []int{statusDone, statusBudget}},
		{"-v 1700000", nil, []int{statusDone, statusBudget}},
		{"-d 1000000", nil, []int{statusDone}},
		{"-d 260000", nil, []int{statusBudget}},
	} {
		args := append([]string{"-c", "ulimit " + c.limit + `; exec "$0" "$@"`, os.Args[0], file, "-f", "none", "-j", "2", "--temp-dir", t.TempDir()}, allKeys...)
		run := bounded.Command(t, sh, append(args, c.flags...)...)
		run.Env = asCommand
		var stderr bytes.Buffer
		run.Stderr = &stderr
		_ = run.Run()
		checkStatus(t, run.ProcessState.ExitCode(), c.ends...)
		if text := stderr.String(); text != "" && (strings.Count(text, "\n") != 1 || !strings.Contains(text, "(ulimit -")) {
			t.Errorf("ulimit %s: %s", c.limit, text)
		}
	}
}
