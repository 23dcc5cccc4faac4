package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/corpus"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// corpusCase is a query on files of many writers, and what a correct engine
// says.
type corpusCase struct {
	corpus.Case
	right []byte // an answer that was found to be so
}

// corpusNull is how the corpus writes NULL.
const corpusNull = `\N`

// loadCorpus returns the cases of a corpus below prefix.
func loadCorpus(t *testing.T, dir, prefix string) (cases []corpusCase) {
	t.Helper()
	for _, c := range corpus.Cases(t, dir, prefix) {
		cases = append(cases, corpusCase{Case: c})
	}
	return cases
}

// args is the command line of the case, its result in CSV on stdout.
func (c *corpusCase) args(dir string) []string {
	args := []string{"-f", "csv", "--null", corpusNull}
	for _, k := range c.By() {
		args = append(args, "-k", k)
	}
	for _, a := range c.Calls() {
		args = append(args, "-a", a)
	}
	if where := c.Where(); where != "" {
		args = append(args, "--where", where)
	}
	if c.UnionByName {
		args = append(args, "--union-by-name")
	}
	return append(args, filepath.Join(dir, c.File))
}

// expectation reads what the answer should be.
func (c *corpusCase) expectation(t *testing.T, dir string) oracle.Expectation {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, c.ExpectedCSV))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := oracle.ReadCSV(f, corpusNull)
	if err != nil {
		t.Fatal(err)
	}
	return oracle.Expectation{
		Table: table, Types: append(append([]string{}, c.KeyTypes...), c.AggTypes...), Keys: len(c.Keys),
		Sampled: c.Mode == "sample", Groups: c.Groups, Totals: c.Totals,
	}
}

// check compares the CSV in stdout with the expected answer, unless it is to
// the letter what was compared before.
func (c *corpusCase) check(t *testing.T, dir string, stdout []byte) {
	t.Helper()
	if c.right != nil && bytes.Equal(stdout, c.right) {
		return
	}
	got, err := oracle.ReadCSV(bytes.NewReader(stdout), corpusNull)
	if err != nil {
		t.Fatalf("the answer is not CSV: %v", err)
	}
	if err := c.expectation(t, dir).Check(got); err != nil {
		t.Error(err)
		return
	}
	c.right = bytes.Clone(stdout)
}

// checkOneLine wants what every failure must say.
func checkOneLine(t *testing.T, stderr string) {
	t.Helper()
	if !strings.HasPrefix(stderr, "gagg: ") || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
		t.Errorf("stderr is not one line beginning with \"gagg: \":\n%s", stderr)
	}
}

// corpusVariant is a way to run a case that must not change the answer.
type corpusVariant struct {
	args      []string
	batchRows int  // 0: the library's choice
	least     bool // with the least memory limit that the command accepts
	plenty    bool // with a limit that is enough for nearly all
	device    bool // with a device that is asked for
}

var corpusVariants = []corpusVariant{
	{},
	{args: []string{"-j", "1"}, plenty: true},
	{args: []string{"-j", "2", "--partitions", "2", "--no-pruning"}, plenty: true},
	{args: []string{"-j", "2", "--partitions", "64"}, least: true},
	{args: []string{"-j", "2", "--partitions", "64"}, batchRows: 61, plenty: true},
}

// skips reports whether the variant would only take time: so small a limit has
// the heap of the test collected all the time.
func (v corpusVariant) skips(c *corpusCase) bool { return v.least && c.Mode != "sample" }

// run is the function of the same name, with batches of the variant's size,
// for which the command has no flag.
func (v corpusVariant) run(args []string, stdout, stderr *bytes.Buffer) (status int) {
	ctx := context.Background()
	args = append(append([]string{}, v.args...), args...)
	if v.least {
		args = append([]string{"--memory-limit", leastLimit(args)}, args...)
	}
	if v.batchRows == 0 {
		return run(ctx, args, nil, nil, stdout, stderr)
	}
	s, _, err := parseSettings(args, nil)
	if err != nil {
		return fail(ctx, stderr, err)
	}
	s.batchRows = v.batchRows
	c := newCommand(nil, nil, stdout, stderr)
	c.settings = *s
	return fail(ctx, stderr, c.aggregate(ctx))
}

// leastLimit is the memory limit that the command says is enough when it is
// given less; any other failure comes with that as well.
func leastLimit(args []string) string {
	var stderr bytes.Buffer
	run(context.Background(), append([]string{"--memory-limit", "1MiB"}, args...), nil, nil, io.Discard, &stderr)
	if m := regexp.MustCompile(`needs at least (\d+ MiB)`).FindStringSubmatch(stderr.String()); m != nil {
		return m[1]
	}
	return "1MiB"
}

// TestCorpusValid runs every query on a valid file.
func TestCorpusValid(t *testing.T) { corpus.Each(t, corpusValid) }

func corpusValid(t *testing.T, folder corpus.Folder) {
	cases := loadCorpus(t, folder.Dir, "valid/")
	variants := corpusVariants
	if testing.Short() {
		variants = variants[len(variants)-1:]
	}
	passed := 0
	var stdout bytes.Buffer // used again: that it grows takes longer than most runs
	for _, c := range cases {
		if testing.Short() && c.Groups > 100_000 {
			continue
		}
		variants := variants
		if c.Groups > 100_000 {
			variants = []corpusVariant{corpusVariants[0], corpusVariants[3]} // of seconds each
		}
		ok := t.Run(c.ID, func(t *testing.T) {
			for _, variant := range variants {
				if !variant.skips(&c) {
					stdout.Reset()
					c.runValid(t, folder.Dir, variant, &stdout)
				}
			}
		})
		if ok {
			passed++
		}
	}
	t.Logf("%d of %d cases on valid files passed, each in up to %d variants", passed, len(cases), len(variants))
}

func (c *corpusCase) runValid(t *testing.T, dir string, variant corpusVariant, stdout *bytes.Buffer) {
	t.Helper()
	args := c.args(dir)
	if variant.plenty && c.Groups <= 100_000 {
		args = append([]string{"--memory-limit", "100MiB"}, args...)
	}
	var stderr bytes.Buffer
	status := variant.run(args, stdout, &stderr)
	if t.Failed() {
		return
	}
	defer func() {
		if t.Failed() {
			t.Logf("gagg %q, %+v: status %d, %s", args, variant, status, stderr.String())
		}
	}()
	switch {
	case status == statusDone && c.Expect != "error":
		if stderr.Len() > 0 && !variant.mayFallBack(stderr.String()) {
			t.Errorf("a run that succeeds says something on stderr")
		}
		c.check(t, dir, stdout.Bytes())
	case status == statusDone:
		t.Errorf("an answer where only an error is right")
	case c.Expect == "error":
		checkStatus(t, status, statusInput, statusUsage)
		checkOneLine(t, stderr.String())
	case c.Expect == "error_or_exact":
		checkStatus(t, status, statusInput, statusOverflow)
		checkOneLine(t, stderr.String())
	default:
		t.Errorf("an error where the answer is known")
	}
}

func checkStatus(t *testing.T, got int, allowed ...int) {
	t.Helper()
	for _, a := range allowed {
		if got == a {
			return
		}
	}
	t.Errorf("exit status %d, want one of %v", got, allowed)
}
