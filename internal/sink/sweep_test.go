package sink

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// F18, F21: what a killed process left beside an output goes when the output
// is written again; what a living one writes, and what only looks alike,
// stays.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out.csv")
	left := hiddenName(out)
	others := []string{hiddenName(filepath.Join(dir, "other.csv")), left + "0", left[:len(left)-1] + "x", filepath.Join(dir, ".out.csv")}
	for _, name := range append(others, left) {
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	living, err := Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer living.Abort()
	if err := writeAll(osFS{}, out); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); !os.IsNotExist(err) {
		t.Errorf("what a dead process left is there: %v", err)
	}
	for _, name := range append(others, living.hidden) {
		if _, err := os.Lstat(name); err != nil {
			t.Errorf("swept: %v", err)
		}
	}
	if err := living.Commit(); err != nil {
		t.Errorf("while another wrote: %v", err)
	}
}

// Many writers of one output sweep at the same time: each gets its own file.
func TestSweepTogether(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out.csv")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				if err := writeAll(osFS{}, out); err != nil {
					t.Error(err)
				}
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	expectOnly(t, filepath.Dir(out), "out.csv", newContent)
}
