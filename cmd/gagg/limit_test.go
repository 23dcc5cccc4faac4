package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/gagg-dev/gagg/internal/datagen"
)

// h2oFile makes the table of db-benchmark with so many rows.
func h2oFile(t *testing.T, rows int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h2o.parquet")
	if err := writeH2O(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeH2O(path string, rows int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(datagen.H2O{Rows: rows, Seed: 1}.WriteParquet(f), f.Close())
}

// allKeys is q10 of db-benchmark: nearly every row is a group of its own.
var allKeys = []string{"-k", "id1,id2,id3,id4,id5,id6", "-a", "sum(v3) as s, count(*) as n"}

// F12: with any limit, a run either has the right answer with its peak resident size within the
// limit, or ends at the start with status 5 and a limit that is enough.
func TestMemoryWithinLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs of whole processes")
	}
	file := h2oFile(t, 250_000)
	// "": the limit that gagg says is enough
	limits := []string{"1KiB", "20MiB", "", "64MiB", "96MiB", "1GiB"}
	for _, c := range []struct {
		name, format string
		query        []string
	}{
		{"groups", "csv", allKeys},
		{"groups", "parquet", allKeys},
		{"values", "csv", []string{"-k", "id1,id4", "-a", "median(v3), max(id3), count(distinct id6)"}},
		{"sorted", "csv", append([]string{"--order-by", "n desc, id1, id2, id3, id4, id5, id6"}, allKeys...)},
	} {
		t.Run(c.name+"/"+c.format, func(t *testing.T) {
			checkLimits(t, append(c.query, file, "-f", c.format), limits)
		})
	}
}

func checkLimits(t *testing.T, query, limits []string) {
	t.Helper()
	binary := copiedBinary(t)
	spilled := int64(0)
	whole := runLimited(t, binary, query, "100GiB")
	enough := ""
	for _, limit := range limits {
		if limit == "" {
			limit = enough
		}
		p := runLimited(t, binary, query, limit)
		if p.status == statusBudget {
			m := needs.FindStringSubmatch(p.stderr)
			if m == nil || enough != "" && enough != m[1] {
				t.Fatalf("--memory-limit %s: %s(%s was enough before)", limit, p.stderr, enough)
			}
			enough = m[1]
			continue
		}
		if p.status != statusDone {
			t.Errorf("--memory-limit %s: status %d, %s", limit, p.status, p.stderr)
			continue
		}
		if bytes := bytesOf(t, limit); p.stats.PeakRSS == 0 || p.stats.PeakRSS > bytes {
			t.Errorf("--memory-limit %s: %d bytes were resident, %d allowed", limit, p.stats.PeakRSS, bytes)
		}
		if p.stats.Groups != whole.stats.Groups || p.answer != whole.answer {
			t.Errorf("--memory-limit %s: another answer", limit)
		}
		spilled += p.stats.SpilledBytes
	}
	if enough == "" || spilled == 0 {
		t.Errorf("the limits are no trial: %q is enough, %d bytes were spilled", enough, spilled)
	}
}

var needs = regexp.MustCompile(`^gagg: --memory-limit .* is too small: needs at least (\d+ MiB) for \d+ columns? and 1 thread\n$`)

func bytesOf(t *testing.T, text string) int64 {
	t.Helper()
	var s size
	if err := s.Set(text); err != nil {
		t.Fatal(err)
	}
	return s.bytes
}

// The peak memory that a run reports is that which the system reports, with much memory or little.
func TestPeakMemoryIsHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("some runs of whole processes")
	}
	checkPeak(t, "cpu", 0)
}

// checkPeak compares the two. They differ by the program itself, its garbage and buffers that were
// not filled, and by `apart` bytes.
func checkPeak(t *testing.T, device string, apart int64) {
	// bytes; docs/faults.md says what the first is made of
	const program, unfilled = (26 + 32) << 20, 32 << 20
	query, binary := append(slices.Clone(allKeys), h2oFile(t, 250_000), "-f", "none", "--device", device), copiedBinary(t)
	for _, limit := range []string{"200MiB", "1TiB"} {
		p := runLimited(t, binary, query, limit)
		if p.status != statusDone {
			t.Fatalf("status %d, %s", p.status, p.stderr)
		}
		if peak, rss := p.stats.PeakMemory, p.stats.PeakRSS; peak > rss+unfilled || peak < rss-program-apart {
			t.Errorf("--memory-limit %s: %d bytes are said to have been held, %d were resident", limit, peak, rss)
		}
	}
}

// limitedRun is a run with --stats.
type limitedRun struct {
	measured
	stats  runStats
	answer string // of CSV, without regard to the order that floats were added in
}

func runLimited(t *testing.T, binary string, query []string, limit string) (r limitedRun) {
	t.Helper()
	stats := filepath.Join(t.TempDir(), "stats.json")
	temp := t.TempDir()
	r.measured = measure(t, binary, append(query, "--memory-limit", limit, "--temp-dir", temp, "--stats="+stats, "-j", "3")...)
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("--memory-limit %s: left in the temp folder: %v", limit, left)
	}
	if r.status != statusDone {
		return r
	}
	text, err := os.ReadFile(stats)
	if err == nil {
		err = json.Unmarshal(text, &r.stats)
	}
	if err != nil {
		t.Fatal(err)
	}
	if query[len(query)-1] == "csv" {
		r.answer = floats.ReplaceAllStringFunc(r.stdout, func(x string) string {
			f, _ := strconv.ParseFloat(x, 64)
			return fmt.Sprintf("%.9g", f)
		})
	}
	return r
}

var floats = regexp.MustCompile(`\d+\.\d+`)
