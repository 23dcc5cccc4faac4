package main

import "github.com/gagg-dev/gagg/bench/plot"

// plot draws seconds against the memory limit: one line for each engine,
// limits in the order and at the distance in which they were asked for, a cross
// above where an engine has no answer.
func (r *memoryReport) plot() []byte {
	chart := plot.Chart{Title: r.title() + ": seconds by memory limit", XTitle: "memory limit; × no answer"}
	for _, line := range r.Limits {
		chart.Places = append(chart.Places, line.Limit)
	}
	for _, engine := range contenders {
		l := plot.Line{Name: engine, Unit: "s"}
		for _, line := range r.Limits {
			c := line.Cells[engine]
			l.Values, l.None = append(l.Values, c.median()), append(l.None, c.Failed)
		}
		chart.Lines = append(chart.Lines, l)
	}
	return chart.SVG()
}
