package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/corpus"
)

// A malformed or hostile file may take this much of a process, and no more.
const (
	// of the processor, which does not depend on what else runs there
	hostileTime   = 10 * time.Second
	hostileMemory = 1 << 30 // bytes, at the peak
)

// TestCorpusBad runs a query over every flat column of every malformed or
// hostile file, each in a process of its own, whose time and memory are
// measured.
func TestCorpusBad(t *testing.T) { corpus.Each(t, corpusBad) }

func corpusBad(t *testing.T, folder corpus.Folder) {
	cases := loadCorpus(t, folder.Dir, "bad/")
	passed := 0
	for _, c := range cases {
		if t.Run(c.ID, func(t *testing.T) { c.runBad(t, folder.Dir) }) {
			passed++
		}
	}
	t.Logf("%d of %d cases on malformed files passed", passed, len(cases))
}

func (c *corpusCase) runBad(t *testing.T, dir string) {
	c.askAllColumns(t, dir)
	p := startMeasured(t, c.args(dir)...)
	defer func() {
		if t.Failed() {
			t.Logf("gagg %q: status %d after %v, %d MiB at the peak; %s", p.args, p.status, p.took, p.peak>>20, p.stderr)
		}
	}()
	if p.spent > hostileTime {
		t.Errorf("took %v of the processor, the limit is %v", p.spent, hostileTime)
	}
	if p.peak > hostileMemory {
		t.Errorf("%d MiB at the peak, the limit is %d", p.peak>>20, hostileMemory>>20)
	}
	switch {
	case p.status == statusDone && c.Expect == "error":
		t.Errorf("an answer where only an error is right: %s", p.stdout)
	case p.status == statusDone && c.ExpectedCSV != "":
		c.check(t, dir, []byte(p.stdout))
	case p.status == statusDone:
	case c.Expect == "resource":
		checkStatus(t, p.status, statusInput, statusBudget)
		checkOneLine(t, p.stderr)
	default:
		checkStatus(t, p.status, statusInput)
		checkOneLine(t, p.stderr)
	}
}

// askAllColumns makes the query of a case touch every flat column, at most
// 40, where the corpus knows no column names because the engine that made it
// could not read the footer, and gagg can.
func (c *corpusCase) askAllColumns(t *testing.T, dir string) {
	t.Helper()
	if len(c.Aggs) != 1 || c.ExpectedCSV != "" {
		return
	}
	p := startMeasured(t, "--schema", "-f", "json", filepath.Join(dir, c.File))
	if p.status != statusDone {
		checkStatus(t, p.status, statusInput)
		checkOneLine(t, p.stderr)
		return // count(*) alone must fail as well, or be right
	}
	var schema struct {
		Columns []struct{ Name, Type string }
	}
	if err := json.Unmarshal([]byte(p.stdout), &schema); err != nil {
		t.Fatalf("--schema -f json: %v", err)
	}
	asked := 0
	for i, column := range schema.Columns {
		if column.Type == "" || asked == 40 {
			continue // a list, or of a type that there is not
		}
		asked++
		for _, f := range []string{"count", "min", "max"} {
			// by position: names may be twice, or no text at all
			c.Aggs = append(c.Aggs, fmt.Sprintf("%s(#%d)", f, i+1))
		}
	}
}

// measured is a process that has ended.
type measured struct {
	args           []string
	status         int
	stdout, stderr string
	took, spent    time.Duration // by the clock, and of the processor
	peak           int64         // bytes of resident memory
}

// startMeasured runs gagg in a process of its own. A process that does not
// end is killed after a minute. Its peak memory is what the
// kernel counted, which is no less than what this process had when it
// started the other.
func startMeasured(t *testing.T, args ...string) measured {
	t.Helper()
	return measure(t, os.Args[0], args...)
}

// measure is startMeasured of a copy of the test binary.
func measure(t *testing.T, binary string, args ...string) measured {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, binary, args...)
	command.Env = append([]string{"GOTRACEBACK=single"}, asCommand...)
	command.Stdout, command.Stderr = &stdout, &stderr
	started := time.Now()
	err := command.Run()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	p := measured{
		args: args, status: command.ProcessState.ExitCode(), took: time.Since(started),
		spent:  command.ProcessState.UserTime() + command.ProcessState.SystemTime(),
		stdout: stdout.String(), stderr: strings.ToValidUTF8(stderr.String(), "?"),
	}
	p.peak = peakOf(command.ProcessState)
	return p
}

// copiedBinary is a copy of the test binary, written in small pieces. The linker writes a binary
// through a mapping, of which the page cache keeps large pieces, as it does of a large write; and a
// process has a whole piece mapped where it uses a page of it: 30 to 33 MiB for a test binary that
// does nothing, by where its code happens to be, and 18 for such a copy.
func copiedBinary(t *testing.T) string {
	t.Helper()
	from, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gagg")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	for piece := range slices.Chunk(from, 32<<10) {
		if _, err := to.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
