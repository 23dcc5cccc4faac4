package main

import (
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/bench/plot"
)

// plots are the paper's figures, named by what they show.
func (r *report) plots() map[string][]byte {
	var theory, get, free []*plot.Chart
	for _, share := range shares {
		get = append(get, r.chart("get", share, "getting a page, µs", func(p *point) float64 { return p.Get }))
		free = append(free, r.chart("get", share, "giving it back, µs", func(p *point) float64 { return p.Give }))
	}
	for _, warp := range []bool{false, true} {
		for _, share := range shares {
			theory = append(theory, r.stepsChart(share, warp, nameRW, nameSerial))
			get = append(get, r.stepsChart(share, warp, nameRW, nameRWBM, nameCoRW, nameSerial))
		}
	}
	columns := len(shares)
	return map[string][]byte{
		"pages-steps.svg":  plot.Grid(columns, theory...), // figure 4
		"pages-get.svg":    plot.Grid(columns, get...),    // figure 11
		"pages-lanes.svg":  plot.Grid(len(laneShares), r.laneCharts()...),
		"pages-malloc.svg": plot.Grid(len(scenarios), r.mallocCharts()...),
		"pages-free.svg":   plot.Grid(columns, free...), // figure 16
	}
}

// chart has the sizes of bursts along x and a line for each contender.
func (r *report) chart(table string, share float64, title string, value func(*point) float64) *plot.Chart {
	list := r.of(table, func(p *point) bool { return p.Share == share })
	return chart(fmt.Sprintf("%s, %.4g %% free", title, 100*share), "threads", list, unitsOf, value)
}

// chart draws points over one of their numbers.
func chart(title, xTitle string, list []*point, x func(*point) int, value func(*point) float64) *plot.Chart {
	c := &plot.Chart{Title: title, XTitle: xTitle, Log: true}
	places := unique(list, x)
	for _, place := range places {
		c.Places = append(c.Places, short(place))
	}
	for _, name := range unique(list, contenderOf) {
		l := plot.Line{Name: name, Values: make([]float64, len(places)), None: make([]string, len(places))}
		for _, p := range list {
			if p.Contender == name {
				i := slices.Index(places, x(p))
				l.Values[i], l.None[i] = value(p), p.Failed
			}
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// short is a power of two as one, other numbers as they are.
func short(n int) string {
	for _, unit := range []struct {
		size int
		name string
	}{{1 << 20, "Mi"}, {1 << 10, "Ki"}} {
		if n >= unit.size && n%unit.size == 0 {
			return fmt.Sprint(n/unit.size, unit.name)
		}
	}
	return fmt.Sprint(n)
}

// stepsChart has what was measured as lines and, dashed in the same color, what
// the formulas say.
func (r *report) stepsChart(share float64, warp bool, names ...string) *plot.Chart {
	title, dashed := "steps a thread", "formula"
	if warp {
		title, dashed = "steps a warp", "bound"
	}
	list := r.of("get", func(p *point) bool { return p.Share == share && slices.Contains(names, p.Contender) })
	measured := func(p *point) float64 {
		switch {
		case p.Steps == nil:
			return 0
		case warp:
			return p.Steps.Warp
		}
		return p.Steps.Thread
	}
	said := func(p *point) float64 {
		switch {
		case p.Formulas == nil:
			return 0
		case warp:
			return p.Formulas.Warp
		}
		return p.Formulas.Thread
	}
	c := chart(fmt.Sprintf("%s, %.4g %% free (dashed: %s)", title, 100*share, dashed), "threads", list, unitsOf, measured)
	for _, l := range chart("", "", list, unitsOf, said).Lines {
		l.Dashed, l.None = true, nil
		c.Lines = append(c.Lines, l)
	}
	for i := range c.Lines {
		c.Lines[i].Color = plot.Color(i % (len(c.Lines) / 2))
	}
	return c
}

// laneCharts is figure 12.
func (r *report) laneCharts() (list []*plot.Chart) {
	for _, share := range laneShares {
		points := r.of("lanes", func(p *point) bool { return p.Share == share })
		list = append(list, chart(fmt.Sprintf("getting a page, µs, %.4g %% free", 100*share), "lanes of a warp that want one", points,
			func(p *point) int { return p.Lanes }, func(p *point) float64 { return p.Get }))
	}
	return list
}

// mallocCharts is figure 14: a column for each scenario, a row for each share.
func (r *report) mallocCharts() (list []*plot.Chart) {
	for _, share := range shares {
		for _, what := range scenarios {
			points := r.of("malloc", func(p *point) bool { return p.Share == share && p.Scenario == what.name })
			list = append(list, chart(fmt.Sprintf("%s, µs, %.4g %% free", what.name, 100*share), "threads", points, unitsOf,
				func(p *point) float64 { return p.Get }))
		}
	}
	return list
}
