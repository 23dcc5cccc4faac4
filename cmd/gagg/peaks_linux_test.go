package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/sink"
)

// F12: for any aggregate, format and number of groups, under a limit that gagg says is needed, and
// above it, the peak resident size is within the limit. Or the status is 5, within the limit too,
// and the limit that gagg then says is enough is enough.
//
// GAGG_MEMORY_TEST=all runs all of them (make test-memory), which takes a quarter of an hour on
// two busy cores; else it is a sample of them.
func TestMemoryMatrix(t *testing.T) {
	every := 29 // no part of the number of formats times groups
	switch {
	case os.Getenv("GAGG_MEMORY_TEST") == "all":
		every = 1
	case testing.Short():
		every = 127
	}
	file, binary := h2oFile(t, 300_000), copiedBinary(t)
	number := 0
	for _, call := range memoryCalls(t) {
		// one, 100, 3000, nearly as many as rows
		for _, groups := range []string{"", "id1", "id3", "id1,id3,id6"} {
			for _, format := range sink.Formats {
				if number++; number%every != 0 {
					continue
				}
				query := []string{file, "-a", call, "-f", string(format)}
				if groups != "" {
					query = append(query, "-k", groups)
				}
				t.Run(fmt.Sprintf("%.40s/by %s/%s", call, groups, format), func(t *testing.T) {
					t.Parallel() // a peak is that of a process
					checkPeaks(t, binary, query)
				})
			}
		}
	}
	if number < 500 {
		t.Errorf("only %d combinations", number)
	}
}

// memoryCalls are calls of all aggregates there are: those whose results have a fixed size in
// one, each of the others by itself.
func memoryCalls(t *testing.T) (calls []string) {
	text, number := column.Type{Kind: column.String}, column.Type{Kind: column.Float64}
	args := []struct {
		text  string
		types []column.Type
	}{
		{"id3", []column.Type{text}},
		{"v3", []column.Type{number}},
		{"id6", []column.Type{{Kind: column.Int32}}},
		{"v3 > 50", []column.Type{{Kind: column.Bool}}},
		{"id3, v3", []column.Type{text, number}},
		{"v3, v1", []column.Type{number, number}},
	}
	params := []struct {
		text   string
		values []column.Value
	}{{"", nil}, {", 0.5", []column.Value{{Type: number, Float: 0.5}}}, {", 1000", []column.Value{{Type: column.Type{Kind: column.Int64}, Int: 1000}}}}
	var fixed []string
	for _, name := range agg.Names() {
		found := false
		for _, a := range args {
			for _, p := range params {
				_, result, err := agg.Resolve(name, a.types, p.values)
				if err != nil || len(a.types) > 1 && len(p.values) > 0 {
					continue
				}
				call := fmt.Sprintf("%s(%s%s)", name, a.text, p.text)
				found = true
				if result.IsNested() || result.Rep() == column.RepBytes {
					calls = append(calls, call)
				} else if !slices.ContainsFunc(fixed, func(s string) bool { return strings.HasPrefix(s, name+"(") }) {
					fixed = append(fixed, call)
				}
			}
		}
		if !found {
			t.Errorf("no arguments for %s", name)
		}
	}
	return append(calls, strings.Join(fixed, ", "))
}

var (
	neededFirst = regexp.MustCompile(`needs at least (\d+) MiB for \d+ columns? and 1 thread\n$`)
	enoughFor   = regexp.MustCompile(`; (\d+) MiB are enough\n$`)
)

// checkPeaks runs a query under the limit that is said to be needed, and one and a half times as
// much.
func checkPeaks(t *testing.T, binary string, query []string) {
	t.Helper()
	need := 0
	if status, said := peakUnder(t, binary, query, 1); status != statusBudget || neededFirst.FindStringSubmatch(said) == nil {
		t.Fatalf("1 MiB: status %d, %s", status, said)
	} else {
		need, _ = strconv.Atoi(neededFirst.FindStringSubmatch(said)[1])
	}
	for _, limit := range []int{need, need * 3 / 2} {
		status, said := peakUnder(t, binary, query, limit)
		if status == statusDone {
			continue
		}
		m := enoughFor.FindStringSubmatch(said)
		if status != statusBudget || m == nil {
			t.Fatalf("%d MiB: status %d, %s", limit, status, said)
		}
		enough, _ := strconv.Atoi(m[1])
		if status, said := peakUnder(t, binary, query, enough); status != statusDone || enough <= limit {
			t.Errorf("%d MiB were said to be enough by a run under %d: status %d, %s", enough, limit, status, said)
		}
	}
}

// leastPeak is what the test binary takes that does nothing, which is more than the program.
const leastPeak = programBytes + 6*mib

// testBytes is a part of what the test binary takes beside the program, whose peaks were 13 to 17
// MiB less under the limits where those of the binary were up to 1.5 MiB more than them on a busy
// machine.
const testBytes = 4 * mib

// peakUnder runs a query under a limit, which its peak may not pass, unless the test binary alone
// does.
func peakUnder(t *testing.T, binary string, query []string, limit int) (status int, stderr string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "peak")
	c := bounded.Command(t, binary, append(query, "--memory-limit", fmt.Sprintf("%dMiB", limit), "--temp-dir", t.TempDir(), "-j", "2", "--device", "cpu")...)
	c.Env = append([]string{peakFile + "=" + path}, asCommand...)
	var said bytes.Buffer
	c.Stderr = &said
	ended := c.Run() // by its status, if all is well
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v, %v: %s", ended, err, said.String())
	}
	peak, err := strconv.Atoi(string(text))
	if most := max(limit*mib+testBytes, leastPeak); err != nil || peak > most {
		t.Errorf("%d MiB: a peak of %.1f MiB, status %d", limit, float64(peak)/mib, c.ProcessState.ExitCode())
	}
	return c.ProcessState.ExitCode(), said.String()
}
