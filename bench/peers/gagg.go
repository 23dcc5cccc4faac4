package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// gagg is the command under test.
type gagg struct {
	path    string
	file    string
	threads int
}

// settling is longer than the kernel takes, once a process that has used a GPU has ended, to take
// down what it had there (docs/decisions/0035): a process that opens the GPU meanwhile waits.
const settling = 400 * time.Millisecond

// run answers q as a whole process, from its start to its end; flags say under
// which limits and what becomes of the answer.
func (g gagg) run(ctx context.Context, q question, flags ...string) (spent, error) {
	args := slices.Concat(q.flags(), []string{"-j", strconv.Itoa(g.threads)}, flags, []string{g.file})
	command := exec.CommandContext(ctx, g.path, args...)
	start := time.Now()
	out, err := command.CombinedOutput()
	s := spentBy(command.ProcessState)
	s.seconds = time.Since(start).Seconds()
	if i := slices.Index(flags, "--device"); i >= 0 && flags[i+1] != "cpu" {
		time.Sleep(settling)
	}
	if err != nil {
		err = fmt.Errorf("gagg: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return s, err
}

// version is what --version says.
func (g gagg) version() string {
	out, err := exec.Command(g.path, "--version").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
