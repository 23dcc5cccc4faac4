package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/gagg-dev/gagg/bench/device"
)

// markdown is all that was measured, as tables.
func (r *report) markdown() []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "# Page managers\n\n%s\n\nPools of %d pages. The queue hands out one ticket a thread, or one a warp (warps), or one by compare-and-swap, as the paper models it (serial queue), to %d threads. "+
		"CUDA malloc has its heap to itself, whatever the share of free pages. Times are in microseconds, with the start of a kernel in them.\n\n", &r.Setting, r.pages, serialMost)
	r.summary(&w)
	fmt.Fprintf(&w, "\n```\n")
	device.PrintMarks(&w, r.Marks)
	fmt.Fprintf(&w, "```\n")
	for _, share := range shares {
		r.burstTable(&w, "getting a page each, µs (figure 11, first row)", share, func(p *point) string { return micros(p, p.Get) })
		r.burstTable(&w, "giving it back, µs (figure 16)", share, func(p *point) string { return micros(p, p.Give) })
		r.burstTable(&w, "steps a thread (figures 4 and 11): measured, by the formula", share, func(p *point) string {
			return beside(p, func(s *steps) float64 { return s.Thread }, func(f *formulas) float64 { return f.Thread })
		})
		r.burstTable(&w, "steps a warp (figures 4 and 11): measured, bound", share, func(p *point) string {
			return beside(p, func(s *steps) float64 { return s.Warp }, func(f *formulas) float64 { return f.Warp })
		})
	}
	r.flatTable(&w, "printed", "With the lock map, as the paper prints them, beside ours, µs", func(p *point) string { return fmt.Sprintf("%.4g %% free, %d threads", 100*p.Share, p.Units) })
	r.flatTable(&w, "lanes", "Only some lanes of a warp want a page, µs (figure 12)",
		func(p *point) string { return fmt.Sprintf("%.4g %% free, %d lanes", 100*p.Share, p.Lanes) })
	r.flatTable(&w, "again", fmt.Sprintf("%d pages a thread, one after another, µs", againRounds),
		func(p *point) string { return fmt.Sprintf("%.4g %% free in runs of %d", 100*p.Share, p.Run) })
	r.flatTable(&w, "malloc", "Memory of any size, µs (figure 14)",
		func(p *point) string {
			return fmt.Sprintf("%s, %.4g %% free, %d threads", p.Scenario, 100*p.Share, p.Units)
		})
	return w.Bytes()
}

// micros is microseconds, or that there is none.
func micros(p *point, microseconds float64) string {
	if p.Failed != "" {
		return "×"
	}
	return fmt.Sprintf("%.4g", microseconds)
}

// beside is what was measured and what a formula says.
func beside(p *point, measured func(*steps) float64, formula func(*formulas) float64) string {
	if p.Formulas == nil {
		return ""
	}
	m, f := "-", "-"
	if p.Steps != nil {
		m = fmt.Sprintf("%.4g", measured(p.Steps))
	}
	if v := formula(p.Formulas); v > 0 {
		f = fmt.Sprintf("%.4g", v)
	}
	return m + ", " + f
}

// burstTable has a line for each size of burst and a column for each contender
// of which there is something to tell.
func (r *report) burstTable(w io.Writer, title string, share float64, cell func(*point) string) {
	list := r.of("get", func(p *point) bool { return p.Share == share && cell(p) != "" })
	table(w, fmt.Sprintf("%.4g %% free: %s", 100*share, title), list, func(p *point) string { return fmt.Sprint(p.Units) }, cell)
}

// flatTable has a line for each row that a table's points name.
func (r *report) flatTable(w io.Writer, name, title string, row func(*point) string) {
	table(w, title, r.of(name, all), row, func(p *point) string { return micros(p, p.Get) })
}

// table writes points as a table of Markdown, contenders side by side.
func table(w io.Writer, title string, list []*point, row, cell func(*point) string) {
	if len(list) == 0 {
		return
	}
	contenders := unique(list, contenderOf)
	fmt.Fprintf(w, "\n## %s\n\n| | %s |\n|---|%s\n", title, strings.Join(contenders, " | "), strings.Repeat("---:|", len(contenders)))
	cells := map[[2]string]string{}
	for _, p := range list {
		cells[[2]string{row(p), p.Contender}] = cell(p)
	}
	for _, name := range unique(list, row) {
		fmt.Fprintf(w, "| %s |", name)
		for _, c := range contenders {
			fmt.Fprintf(w, " %s |", cells[[2]string{name, c}])
		}
		fmt.Fprintln(w)
	}
}

// summary is the largest bursts: times, rates, and how the queue compares.
func (r *report) summary(w io.Writer) {
	fmt.Fprintf(w, "| %d threads | free | get µs | million/s | queue ÷ get | give back µs | steps a thread, a warp |\n|---|---:|---:|---:|---:|---:|---:|\n", r.largest)
	for _, p := range r.of("get", func(p *point) bool { return p.Units == r.largest }) {
		over, counted := "", ""
		if q := r.at(nameQueue, p.Share, p.Units); q != nil && p.Get > 0 {
			over = fmt.Sprintf("%.3g", q.Get/p.Get)
		}
		if p.Steps != nil {
			counted = fmt.Sprintf("%.4g, %.4g", p.Steps.Thread, p.Steps.Warp)
		}
		fmt.Fprintf(w, "| %s | %.4g %% | %s | %.4g | %s | %s | %s |\n", p.Contender, 100*p.Share, micros(p, p.Get), p.rate()/1e6, over, micros(p, p.Give), counted)
	}
}
