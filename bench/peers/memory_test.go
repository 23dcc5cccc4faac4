package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// underLimits is a report with all that can go wrong.
func underLimits() *memoryReport {
	cells := func(gagg, duckdb cell) map[string]*cell { return map[string]*cell{"gagg": &gagg, "duckdb": &duckdb} }
	return &memoryReport{
		setting: setting{Machine: machine{CPU: "A & B"}, Rows: 1000, Threads: 2}, Question: "q10", SQL: "select 1",
		Limits: []limited{
			{"default", 0, cells(cell{Seconds: []float64{2, 4}, Peak: 900 * mebibyte}, cell{Seconds: []float64{6}, Peak: 1000 * mebibyte})},
			{"1GiB", 1 << 30, cells(
				cell{Seconds: []float64{6}, Peak: 1 << 30, Written: 3 * mebibyte, Output: &output{Peak: 1<<30 + 5*mebibyte}},
				cell{Seconds: []float64{50}, Peak: 1<<30 + mebibyte, Failed: "duckdb: Out of Memory Error: failed to allocate"})},
			{"512MiB", 1 << 29, cells(cell{Failed: "killed: not done after 1m0s"}, cell{Seconds: []float64{9}, Output: &output{Failed: "full"}, Differs: "other keys"})},
		},
	}
}

func TestMemoryTable(t *testing.T) {
	var out strings.Builder
	underLimits().print(&out)
	for _, want := range []string{
		"| limit | gagg s | duckdb s | gagg peak MiB | duckdb peak MiB | gagg written MiB | duckdb written MiB | duckdb/gagg |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
		"| default | 3.00 | 6.00 | 900 | 1000 | 0 | 0 | 2.00 |\n",
		"| 1GiB | 6.00 | out of memory | 1024 | **1025** | 3 | 0 | - |\n",
		"| 512MiB | killed | 9.00 | 0 | 0 | 0 | 0 | - |\n",
		"gagg: the slowest limit takes 2.00 times as long as the fastest\n",
		// the failure does not count
		"duckdb: the slowest limit takes 1.50 times as long as the fastest\n",
		"- 1GiB: duckdb is 1.0 MiB over its limit\n",
		"- 1GiB: gagg is 5.0 MiB over its limit where it writes its answer as Parquet\n",
		"- 512MiB: duckdb cannot write its answer as Parquet: full\n",
		"- 512MiB: gagg has no answer: killed: not done after 1m0s\n",
		"- 512MiB: duckdb DIFFERS from the first answer: other keys\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "all answers agree") {
		t.Error("all is said to be well")
	}
}

func TestReason(t *testing.T) {
	for failed, want := range map[string]string{
		"duckdb: Out of Memory Error: could not allocate block (1 GiB/1 GiB used)": "out of memory",
		"gagg: exit status 5: gagg: out of memory: 528 MiB wanted":                 "exit status 5",
		"gagg: signal: killed: ":       "killed",
		"killed: not done after 20m0s": "killed",
		"duckdb gave up (is it installed? npm install --prefix bench/peers): EOF": "duckdb gave up",
	} {
		if got := reason(failed); got != want {
			t.Errorf("%q: %q, want %q", failed, got, want)
		}
	}
}

func TestLimitBytes(t *testing.T) {
	for limit, want := range map[string]int64{"default": 0, "512MiB": 512 << 20, "2GiB": 2 << 30, "2GB": 2e9} {
		if got, err := limitBytes(limit); err != nil || got != want {
			t.Errorf("%s: %d, %v", limit, got, err)
		}
	}
	for _, limit := range []string{"", "0", "lots"} {
		if _, err := limitBytes(limit); err == nil {
			t.Errorf("%q: no error", limit)
		}
	}
}

// The plot is well-formed and has a mark for every limit and engine; a line
// stops where there is no answer.
func TestPlot(t *testing.T) {
	plot := string(underLimits().plot())
	decoder := xml.NewDecoder(strings.NewReader(plot))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, plot)
		}
	}
	for mark, want := range map[string]int{"<circle ": 4, ">×</text>": 2, ">512MiB</text>": 1, "A &amp; B": 1, ">gagg</text>": 1, ">duckdb</text>": 1} {
		if got := strings.Count(plot, mark); got != want {
			t.Errorf("%d times %q, want %d, in\n%s", got, mark, want, plot)
		}
	}
	if !strings.Contains(plot, `<path d="M155.0 170.0M535.0 80.0" fill="none" stroke="#d55e00"`) {
		t.Errorf("duckdb's line does not stop at 1GiB in\n%s", plot)
	}
}

// standIn is a gagg that runs a script.
func standIn(t *testing.T, script string) memoryBench {
	t.Helper()
	dir := t.TempDir()
	path, file := filepath.Join(dir, "gagg"), filepath.Join(dir, "data")
	for name, text := range map[string]string{path: "#!/bin/sh\n" + script + "\n", file: "rows"} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return memoryBench{bench: bench{gagg: gagg{path: path, file: file, threads: 3}}, timeout: time.Minute, temp: dir}
}

// gagg gets its limits as flags and a folder that goes when the run ends; its
// error and its exit status come back.
func TestOnce(t *testing.T) {
	m := standIn(t, `echo "$@"; while [ $# -gt 0 ]; do case "$1" in --temp-dir) shift; touch "$1/left";; esac; shift; done; exit 5`)
	q := question{by: []string{"a", "b"}, aggs: []term{{"count"}}}
	s, err := m.once(t.Context(), "gagg", q, "1GiB", "none")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"exit status 5", " -k a,b ", "-j 3 ", "--memory-limit 1GiB -f none ", m.gagg.file} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q has no %q", err, want)
		}
	}
	if s.peak == 0 || s.seconds == 0 {
		t.Errorf("a run took %+v", s)
	}
	if left, _ := filepath.Glob(filepath.Join(m.temp, "gagg-*")); left != nil {
		t.Errorf("%v are left", left)
	}
	if _, err := m.once(t.Context(), "gagg", q, "default", "out.parquet"); strings.Contains(err.Error(), "--memory-limit") || !strings.Contains(err.Error(), "-o out.parquet") {
		t.Errorf("no limit: %v", err)
	}
}

func TestWatchdog(t *testing.T) {
	m := standIn(t, "exec sleep 60")
	m.timeout = 50 * time.Millisecond
	_, err := m.once(t.Context(), "gagg", question{aggs: []term{{"count"}}}, "1GiB", "none")
	if err == nil || reason(err.Error()) != "killed" {
		t.Errorf("%v", err)
	}
}

// An engine that has failed at a limit is not asked again at it, but is at
// the next one.
func TestFailuresAreNotRepeated(t *testing.T) {
	m := standIn(t, `echo run >> "$(dirname "$0")/runs"; exit 5`)
	m.rounds, m.limits = 3, []string{"2GiB", "1GiB"}
	m.engines = []string{"gagg"}
	var lines []limited
	err := m.answer(t.Context(), question{aggs: []term{{"count"}}}, func(l limited) error { lines = append(lines, l); return nil })
	if err != nil || len(lines) != 2 || lines[1].Bytes != 1<<30 || reason(lines[1].Cells["gagg"].Failed) != "exit status 5" {
		t.Errorf("%+v, %v", lines, err)
	}
	if runs, _ := os.ReadFile(filepath.Join(m.temp, "runs")); string(runs) != "run\nrun\n" {
		t.Errorf("runs: %q", runs)
	}
}
