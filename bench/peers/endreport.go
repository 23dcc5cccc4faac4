package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// endReport is the result file of a run end to end.
type endReport struct {
	setting
	Rounds    int         `json:"rounds"`
	Names     []string    `json:"names"` // of the contenders, DuckDB first
	Unchecked []string    `json:"unchecked,omitempty"`
	Dropped   []string    `json:"dropped,omitempty"` // by DuckDB
	Results   []endResult `json:"results"`
}

// endResult is the line of one question.
type endResult struct {
	result
	Typed string `json:"typed,omitempty"` // a real query, for gagg
	// what gagg's --stats says of the last run
	Did map[string]json.RawMessage `json:"did"`
}

// faster is how many times faster than DuckDB a contender is; 0: not known.
func (r endResult) faster(name string) float64 {
	own, other := r.Cells[name].median(), r.Cells["duckdb"].median()
	if own == 0 || other == 0 {
		return 0
	}
	return other / own
}

// heavy is db-benchmark's questions of many groups; their geometric mean is what counts.
var heavy = []string{"q3", "q5", "q7", "q10"}

// longFrom is how many seconds a real query takes DuckDB that a device may help.
const longFrom = .2

// pool is questions of which there is a geometric mean.
type pool struct {
	label string
	least int // questions
	has   func(endResult) bool
}

// pools is the means of a report. A mean of some of the heavy questions would flatter.
func (r *endReport) pools() []pool {
	if r.kind() == "devices" {
		return []pool{
			{"all", 1, func(endResult) bool { return true }},
			{fmt.Sprintf("of %.1f s or more in DuckDB", longFrom), 1, func(l endResult) bool { return l.Cells["duckdb"].median() >= longFrom }},
		}
	}
	return []pool{{strings.Join(heavy, " "), len(heavy), func(l endResult) bool { return slices.Contains(heavy, l.Question) }}}
}

// mean is the geometric mean of how many times faster a contender is on the questions of a pool; 0
// where one is missing.
func (r *endReport) mean(p pool, name string) float64 {
	var ratios []float64
	for _, line := range r.Results {
		if !p.has(line) {
			continue
		}
		f := line.faster(name)
		if f == 0 {
			return 0
		}
		ratios = append(ratios, f)
	}
	if len(ratios) < p.least {
		return 0
	}
	return geometricMean(ratios)
}

// kind is the name of the result files: devices if a question is a real query.
func (r *endReport) kind() string {
	if slices.ContainsFunc(r.Results, func(l endResult) bool { return l.Typed != "" }) {
		return "devices"
	}
	return "endtoend"
}

// telling is the contenders that may have run on a device, and have told.
func (r *endReport) telling() []string {
	return slices.DeleteFunc(slices.Clone(r.Names), func(name string) bool {
		told := func(l endResult) bool { return whereRan(l.Did[name]) != "" }
		return name == "gagg cpu" || !slices.ContainsFunc(r.Results, told)
	})
}

// markdown writes the table: medians, how many times faster than DuckDB, and what ran where.
func (r *endReport) markdown(w io.Writer) {
	fmt.Fprintf(w, "# End to end, %d rows\n\n%s, driver %s; %s, %d cores, %s; %s; %s, DuckDB %s; commit %s, %s\n",
		r.Rows, r.Machine.GPU, r.Machine.Driver, r.Machine.CPU, r.Machine.Cores, r.Machine.Memory, r.Machine.Go,
		r.Versions["gagg"], r.Versions["duckdb"], r.Commit, r.Date)
	fmt.Fprintf(w, "seconds, medians of %d rounds of all in turns; `peers %s`\n\n", r.Rounds, r.Command)
	tell := r.telling()
	fmt.Fprintf(w, "| | %s | %s |", strings.Join(r.Names, " | "), strings.Join(r.ratioNames(), " | "))
	for _, name := range tell {
		fmt.Fprintf(w, " where %s ran |", name)
	}
	fmt.Fprintf(w, "\n|---|%s%s\n", strings.Repeat("---:|", 2*len(r.Names)-1), strings.Repeat("---|", len(tell)))
	for _, line := range r.Results {
		fmt.Fprintf(w, "| %s |", line.Question)
		for _, name := range r.Names {
			fmt.Fprintf(w, " %s |", orDash("%.3f", line.Cells[name].median()))
		}
		for _, name := range r.Names[1:] {
			fmt.Fprintf(w, " %s |", orDash("%.2f", line.faster(name)))
		}
		for _, name := range tell {
			fmt.Fprintf(w, " %s |", whereRan(line.Did[name]))
		}
		fmt.Fprintln(w)
	}
	for _, p := range r.pools() {
		fmt.Fprintf(w, "| %s, geometric mean |%s", p.label, strings.Repeat(" |", len(r.Names)))
		for _, name := range r.Names[1:] {
			fmt.Fprintf(w, " %s |", orDash("%.2f", r.mean(p, name)))
		}
		fmt.Fprintf(w, "%s\n", strings.Repeat(" |", len(tell)))
	}
	fmt.Fprintln(w)
	r.notes(w)
	for _, line := range r.Results {
		if line.Typed != "" {
			fmt.Fprintf(w, "\n    %s: %s", line.Question, line.Typed)
		}
	}
	if r.kind() == "devices" {
		fmt.Fprintln(w)
	}
}

func (r *endReport) ratioNames() []string {
	var names []string
	for _, name := range r.Names[1:] {
		names = append(names, "duckdb ÷ "+name)
	}
	return names
}

// notes says what went wrong, and where auto was not the better choice.
func (r *endReport) notes(w io.Writer) {
	var asReport report
	for _, line := range r.Results {
		asReport.Results = append(asReport.Results, line.result)
		if over := line.autoOver(); over > autoMargin {
			fmt.Fprintf(w, "%s: auto takes %.2f times as long as the better of cpu and gpu\n", line.Question, over)
		}
	}
	if len(r.Dropped) > 0 {
		fmt.Fprintf(w, "DuckDB's answers to %s are not kept: explain analyze\n\n", strings.Join(r.Dropped, ", "))
	}
	if !asReport.printTroubles(w) {
		fmt.Fprintf(w, "answers compared, and equal: %s\n", r.compared())
	}
}

// compared is the questions whose answers were, or "none".
func (r *endReport) compared() string {
	var names []string
	for _, line := range r.Results {
		if !slices.Contains(r.Unchecked, line.Question) {
			names = append(names, line.Question)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// autoMargin is how many times the better device's time auto may take.
const autoMargin = 1.1

// autoOver is how many times as long as the better of cpu and gpu auto takes; 0: not known.
func (r endResult) autoOver() float64 {
	cpu, gpu, auto := r.Cells["gagg cpu"].median(), r.Cells["gagg gpu"].median(), r.Cells["gagg auto"].median()
	if cpu == 0 || gpu == 0 {
		return 0
	}
	return auto / min(cpu, gpu)
}
