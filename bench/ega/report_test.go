package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/bench/device"
)

// micros is the time of 2^28 rows at so many billions a second.
func micros(rate float64) float64 { return float64(full.rows) / rate / 1e3 }

// measured is a report in which the strategy taken has these rates, and the probe 2.
func measured(taken, skewed, loaded float64) *report {
	r := &report{Setting: device.Setting{GPU: "a < b"}, amounts: full, Rows: full.rows}
	add := func(table, strategy, distribution string, groups uint64, rate float64, chosen bool) {
		r.Points = append(r.Points, point{Table: table, Strategy: strategy, Distribution: distribution, Groups: groups, Found: groups, Chosen: chosen, Time: micros(rate)})
	}
	for _, groups := range full.groups {
		add("groups", nameProbe, uniform.name, groups, 2, false)
		add("groups", nameScattered, uniform.name, groups, taken, true)
	}
	for _, groups := range full.skewed {
		add("skew", nameScattered, uniform.name, groups, 10, true)
		for _, d := range distributions[1:] {
			add("skew", nameScattered, d.name, groups, skewed, true)
		}
	}
	for _, load := range loads {
		groups := uint64(load * float64(full.rows))
		add("load", nameProbe, "repeated", groups, 2, false)
		add("load", nameSingle, "repeated", groups, loaded, true)
		r.Points[len(r.Points)-1].Load, r.Points[len(r.Points)-2].Load = load, load
	}
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
		taken, skewed, loaded float64
		what                  string
		reached               bool
	}{
		{25.1, 10, 11, "uniform keys, 1000000 groups", true},
		{24.9, 10, 11, "uniform keys, 1000000 groups", false},
		{24.9, 10, 11, "uniform keys, 100 groups", true},
		{1.7, 10, 11, "the strategy taken, of the fastest, at worst", false},
		{1.9, 10, 11, "the strategy taken, of the fastest, at worst", true},
		{20, 7.9, 11, "Zipf 1.5, 10000 groups, of uniform", false},
		{20, 8.1, 11, "Zipf 1.5, 10000 groups, of uniform", true},
		{20, 10, 10.7, "over the plain probe at load 0.97", false},
		{20, 10, 10.8, "over the plain probe at load 0.97", true},
		{20, 10, 10.8, "129 groups, of 128", true},
	} {
		reached, known := verdicts(measured(c.taken, c.skewed, c.loaded))[c.what]
		if !known || reached != c.reached {
			t.Errorf("%+v: reached %v, measured %v", c, reached, known)
		}
	}
	if v := verdicts(&report{amounts: full, Rows: full.rows}); len(v) != 0 {
		t.Errorf("nothing was measured, but these were judged: %v", v)
	}
}

// What the peer says is a strategy more, unless it found other groups.
func TestPeer(t *testing.T) {
	r := measured(20, 10, 11)
	if err := r.addPeer([]byte("100 26843.5 100\n")); err != nil {
		t.Fatal(err)
	}
	if reached, known := verdicts(r)["over CUB in the same run, 100 groups"]; !known || !reached {
		t.Errorf("20 G rows/s over CUB's 10: reached %v, measured %v", reached, known)
	}
	for _, out := range []string{"100 1.5 99\n", "100 groups\n"} {
		if err := r.addPeer([]byte(out)); err == nil {
			t.Errorf("no error for %q", out)
		}
	}
}

// Everything measured is in the files; the marks come last on the terminal.
func TestPublish(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := measured(20, 10, 11).publish(&out, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "a-b", "ega.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 129 | 2 | 20 * |", "| 1000000, Zipf 1 | 10 * |", "| load 0.97 | 2 | 11 * |"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, name := range []string{"ega.json", "ega.svg"} {
		if _, err := os.Stat(filepath.Join(dir, "a-b", name)); err != nil {
			t.Error(err)
		}
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); !strings.HasPrefix(lines[len(lines)-1], "over the plain probe") {
		t.Errorf("the last line is %q", lines[len(lines)-1])
	}
}
