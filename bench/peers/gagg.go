package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// gagg is the command under test.
type gagg struct {
	path    string
	file    string
	threads int
}

// run answers q as a whole process, from its start to its end, and returns the
// seconds and its peak resident bytes. output is what `gagg` is told to do
// with the answer.
func (g gagg) run(q question, output ...string) (seconds float64, peak int64, err error) {
	args := append([]string{"-k", strings.Join(q.by, ","), "-a", q.columns(), "-j", strconv.Itoa(g.threads)}, output...)
	command := exec.Command(g.path, append(args, g.file)...)
	start := time.Now()
	out, err := command.CombinedOutput()
	seconds = time.Since(start).Seconds()
	if err != nil {
		return 0, 0, fmt.Errorf("gagg: %w: %s", err, strings.TrimSpace(string(out)))
	}
	// Linux counts this process's own peak as the child's until it has
	// grown past it, so this program has to stay small.
	usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return seconds, 0, nil
	}
	return seconds, usage.Maxrss * 1024, nil
}

// version is what --version says.
func (g gagg) version() string {
	out, err := exec.Command(g.path, "--version").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
