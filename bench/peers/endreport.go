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
	Did map[string]json.RawMessage `json:"did"` // what gagg's --stats says of the last run
}

// faster is how many times faster than DuckDB a contender is; 0: not known.
func (r endResult) faster(name string) float64 {
	own, other := r.Cells[name].median(), r.Cells["duckdb"].median()
	if own == 0 || other == 0 {
		return 0
	}
	return other / own
}

// heavy is the questions of many groups; their geometric mean is what counts.
var heavy = []string{"q3", "q5", "q7", "q10"}

// mean is the geometric mean of how many times faster a contender is on the
// heavy questions; 0 where one is missing.
func (r *endReport) mean(name string) float64 {
	var ratios []float64
	for _, line := range r.Results {
		if f := line.faster(name); f > 0 && slices.Contains(heavy, line.Question) {
			ratios = append(ratios, f)
		}
	}
	if len(ratios) < len(heavy) {
		return 0
	}
	return geometricMean(ratios)
}

// markdown writes the table: medians, and how many times faster than DuckDB.
func (r *endReport) markdown(w io.Writer) {
	fmt.Fprintf(w, "# End to end, %d rows\n\n%s, driver %s; %s, %d cores, %s; %s; %s, DuckDB %s; commit %s, %s\n",
		r.Rows, r.Machine.GPU, r.Machine.Driver, r.Machine.CPU, r.Machine.Cores, r.Machine.Memory, r.Machine.Go,
		r.Versions["gagg"], r.Versions["duckdb"], r.Commit, r.Date)
	fmt.Fprintf(w, "seconds, medians of %d rounds of all in turns; `peers %s`\n\n", r.Rounds, r.Command)
	fmt.Fprintf(w, "| | %s | %s |\n|---|%s\n", strings.Join(r.Names, " | "), strings.Join(r.ratioNames(), " | "), strings.Repeat("---:|", 2*len(r.Names)-1))
	for _, line := range r.Results {
		fmt.Fprintf(w, "| %s |", line.Question)
		for _, name := range r.Names {
			fmt.Fprintf(w, " %s |", orDash("%.3f", line.Cells[name].median()))
		}
		for _, name := range r.Names[1:] {
			fmt.Fprintf(w, " %s |", orDash("%.2f", line.faster(name)))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "| %s, geometric mean |%s", strings.Join(heavy, " "), strings.Repeat(" |", len(r.Names)))
	for _, name := range r.Names[1:] {
		fmt.Fprintf(w, " %s |", orDash("%.2f", r.mean(name)))
	}
	fmt.Fprint(w, "\n\n")
	r.notes(w)
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
