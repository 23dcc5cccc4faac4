package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/bench/plot"
)

// report is the result file.
type report struct {
	device.Setting
	amounts
	Rows   uint32        `json:"rows"`
	Points []point       `json:"points"`
	Marks  []device.Mark `json:"marks"`
}

// rate is billions of rows a second; 0: not known.
func (r *report) rate(p *point) float64 {
	if p.Time == 0 {
		return 0
	}
	return float64(r.Rows) / p.Time / 1e3
}

// of are the points of a table that a filter wants, in the order measured.
func (r *report) of(table string, want func(*point) bool) (list []*point) {
	for i := range r.Points {
		if p := &r.Points[i]; p.Table == table && want(p) {
			list = append(list, p)
		}
	}
	return list
}

// at is the rate of a strategy; 0: not measured.
func (r *report) at(table, strategy, distribution string, groups uint64) float64 {
	for _, p := range r.of(table, func(p *point) bool {
		return p.Strategy == strategy && p.Distribution == distribution && p.Groups == groups
	}) {
		return r.rate(p)
	}
	return 0
}

// best is the rate of the strategy that gagg takes, and of the fastest of its strategies.
func (r *report) best(table, distribution string, groups uint64) (chosen, best float64) {
	for _, p := range r.of(table, func(p *point) bool {
		return p.Distribution == distribution && p.Groups == groups && p.Strategy != nameCUB
	}) {
		best = max(best, r.rate(p))
		if p.Chosen {
			chosen = r.rate(p)
		}
	}
	return chosen, best
}

// publish saves the result files and prints the tables and, last, the marks.
func (r *report) publish(w io.Writer, dir string) error {
	r.Marks = r.marks()
	files := map[string][]byte{"ega.json": device.JSON(r), "ega.md": r.markdown(), "ega.svg": r.plot()}
	if err := r.SaveAll(w, dir, files); err != nil {
		return err
	}
	_, err := w.Write(r.markdown())
	device.PrintMarks(w, r.Marks)
	return err
}

// tables of the report, with what tells their lines apart.
var tablesOf = []struct {
	name, title string
	row         func(*point) string
}{
	{"groups", "Uniform keys", func(p *point) string { return fmt.Sprint(p.Groups) }},
	{"skew", "Skewed keys", func(p *point) string { return fmt.Sprintf("%d, %s", p.Groups, p.Distribution) }},
	{"load", "Buffers of as many slots as rows", func(p *point) string { return fmt.Sprintf("load %.4g", p.Load) }},
}

// markdown is all that was measured, as tables.
func (r *report) markdown() []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "# Aggregation on the device\n\n%s\n\n%d pairs of 16 bytes. Billions of rows a second; * marks the strategy that gagg takes.\n", &r.Setting, r.Rows)
	for _, t := range tablesOf {
		list := r.of(t.name, func(*point) bool { return true })
		if len(list) == 0 {
			continue
		}
		strategies := unique(list, func(p *point) string { return p.Strategy })
		fmt.Fprintf(&w, "\n## %s\n\n| | %s |\n|---|%s\n", t.title, strings.Join(strategies, " | "), strings.Repeat("---:|", len(strategies)))
		for _, row := range unique(list, t.row) {
			fmt.Fprintf(&w, "| %s |", row)
			for _, strategy := range strategies {
				fmt.Fprintf(&w, " %s |", r.cell(list, func(p *point) bool { return t.row(p) == row && p.Strategy == strategy }))
			}
			fmt.Fprintln(&w)
		}
	}
	fmt.Fprintln(&w)
	return w.Bytes()
}

// cell is the rate of the first point that a filter wants.
func (r *report) cell(list []*point, want func(*point) bool) string {
	i := slices.IndexFunc(list, want)
	switch {
	case i < 0:
		return ""
	case list[i].Failed != "":
		return "×"
	case list[i].Chosen:
		return fmt.Sprintf("%.4g *", r.rate(list[i]))
	}
	return fmt.Sprintf("%.4g", r.rate(list[i]))
}

// unique are the values of a field, in the order measured.
func unique(list []*point, field func(*point) string) (values []string) {
	for _, p := range list {
		if v := field(p); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// plot has a chart for each table.
func (r *report) plot() []byte {
	var charts []*plot.Chart
	for _, t := range tablesOf {
		list := r.of(t.name, func(*point) bool { return true })
		c := &plot.Chart{Title: t.title + ", billions of rows a second", Log: true, Places: unique(list, t.row)}
		for _, strategy := range unique(list, func(p *point) string { return p.Strategy }) {
			line := plot.Line{Name: strategy, Values: make([]float64, len(c.Places))}
			for _, p := range list {
				if p.Strategy == strategy {
					line.Values[slices.Index(c.Places, t.row(p))] = r.rate(p)
				}
			}
			c.Lines = append(c.Lines, line)
		}
		charts = append(charts, c)
	}
	return plot.Grid(1, charts...)
}
