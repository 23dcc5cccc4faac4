package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/bench/device"
)

// measured is a report as the largest bursts would make it: CoRW takes so long
// where the queue takes 100 µs, and RW so many steps where the formula says 10.
func measured(corw, walk float64) *report {
	r := &report{Setting: device.Setting{GPU: "a < b"}, amounts: full}
	for _, share := range shares {
		r.Points = append(r.Points,
			point{
				Table: "get", Contender: nameRW, Share: share, Units: full.largest, Get: 50, Give: 1,
				Steps: &steps{Thread: walk, Warp: 3 * walk}, Formulas: &formulas{Thread: 10, Warp: 40},
			},
			point{Table: "get", Contender: nameCoRW, Share: share, Units: full.largest, Get: corw, Give: 1},
			point{Table: "get", Contender: nameQueue, Share: share, Units: full.largest, Get: 100, Give: 90},
			point{Table: "get", Contender: nameCoRW, Share: share, Units: serialMost, Get: corw, Give: 1},
			point{Table: "get", Contender: nameSerial, Share: share, Units: serialMost / 2, Get: 1, Give: 90},
			point{Table: "get", Contender: nameSerial, Share: share, Units: serialMost, Get: 90, Give: 90},
			point{Table: "get", Contender: "CUDA malloc", Share: share, Units: full.largest, Failed: "out of memory: 7 of 9 threads got nothing"},
		)
	}
	r.Points = append(r.Points,
		point{Table: "lanes", Contender: nameCoRW, Share: .01, Units: 100, Lanes: 4, Get: 3},
		point{Table: "malloc", Contender: "RW_malloc", Share: .5, Units: 100, Scenario: "16 B", Get: 4})
	return r
}

func verdicts(r *report) map[string]bool {
	v := map[string]bool{}
	for _, m := range r.marks() {
		if !m.None {
			v[m.What] = m.Reached()
		}
	}
	return v
}

// Each mark looks at its own figures, and is missed on their wrong side.
func TestMarks(t *testing.T) {
	for _, c := range []struct {
		corw, steps float64
		what        string
		reached     bool
	}{
		{10, 10, "CoRW or CRW over the queue, 50 % free, 1048576 threads", true},
		{11, 10, "CoRW or CRW over the queue, 50 % free, 1048576 threads", false},
		{10, 10, "CoRW or CRW over the queue, 1 % free, 1048576 threads", true},
		{11, 10, "CoRW or CRW over the queue, 1 % free, 1048576 threads", false},
		{9, 10, "CoRW or CRW over the serial queue, 10 % free, 16384 threads", true},
		{9.1, 10, "CoRW or CRW over the serial queue, 10 % free, 16384 threads", false},
		{11, 10, "CoRW or CRW over the queue, 0.5 % free, 1048576 threads", true},
		{34, 10, "CoRW or CRW over the queue, 0.5 % free, 1048576 threads", false},
		{1700, 10, "pages of CoRW or CRW", true},
		{1800, 10, "pages of CoRW or CRW", false},
		{10, 9.1, "RW, steps a thread off the formula by", true},
		{10, 11.1, "RW, steps a thread off the formula by", false},
		{10, 13.5, "RW, steps a warp by their bound", true},
		{10, 13.7, "RW, steps a warp by their bound", false},
	} {
		reached, known := verdicts(measured(c.corw, c.steps))[c.what]
		if !known || reached != c.reached {
			t.Errorf("CoRW %v µs, RW %v steps: %s: reached %v, measured %v", c.corw, c.steps, c.what, reached, known)
		}
	}
	if v := verdicts(&report{amounts: full}); len(v) != 0 {
		t.Errorf("nothing was measured, but these were judged: %v", v)
	}
}

// Everything measured is in the tables; the marks come last on the terminal.
func TestPublish(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := measured(5, 10).publish(&out, dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "a-b", "pages*"))
	if err != nil || len(files) != 7 {
		t.Errorf("result files %v, %v; want 7", files, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "a-b", "pages.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| RW | 50 % | 50 | 2.097e+04 | 2 | 1 | 10, 30 |",
		"| CUDA malloc | 50 % | × |",
		"| 1048576 | 10, 10 |", // the queue has no formulas here
		"| 1 % free, 4 lanes | 3 |",
		"| 16 B, 50 % free, 100 threads | 4 |",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); !strings.HasPrefix(lines[len(lines)-1], "CRW, steps a warp by their bound") {
		t.Errorf("last line %q", lines[len(lines)-1])
	}
}

func TestSuffices(t *testing.T) {
	for _, c := range []struct {
		free, n int
		want    bool
	}{{100, 90, true}, {100, 91, false}, {1342177, 1 << 20, true}, {1048576, 1 << 20, false}} {
		if got := suffices(c.free, c.n); got != c.want {
			t.Errorf("%d of %d: %v", c.n, c.free, got)
		}
	}
}
