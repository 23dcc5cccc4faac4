package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
)

// Size of the plot, and of the axes' corner in it, in pixels.
const (
	plotWidth, plotHeight = 720, 400
	plotLeft, plotRight   = 60, 90 // right: room for the engines' names
	plotTop, plotBottom   = 50, 50
	plotInnerW            = plotWidth - plotLeft - plotRight
	plotInnerH            = plotHeight - plotTop - plotBottom
	plotTicks             = 5
	plotNoAnswer          = plotTop + 16 // where a limit without an answer is marked
	plotLineHeight        = 16
)

// Colors that stay apart for the color-blind.
var plotColors = map[string]string{"gagg": "#0072b2", "duckdb": "#d55e00"}

// plot draws seconds against the memory limit as SVG: one line for each
// engine, limits in the order and at the distance in which they were asked
// for, a cross above where an engine has no answer.
func (r *memoryReport) plot() []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintln(&w, `<rect width="100%" height="100%" fill="white"/>`)
	fmt.Fprintf(&w, `<text x="%d" y="22" font-size="14">%s: seconds by memory limit</text>`+"\n", plotLeft, html.EscapeString(r.title()))
	top := r.top()
	r.plotAxes(&w, top)
	for i, engine := range contenders {
		r.plotLine(&w, engine, i, top)
	}
	fmt.Fprintln(&w, "</svg>")
	return w.Bytes()
}

// top is the value at the upper end of the axis: the highest median, rounded
// up so that the ticks are round.
func (r *memoryReport) top() float64 {
	highest := 0.0
	for _, line := range r.Limits {
		for _, c := range line.Cells {
			highest = max(highest, c.median())
		}
	}
	if highest == 0 {
		return plotTicks
	}
	step := highest * 1.1 / plotTicks // a tenth of room above
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, round := range []float64{1, 2, 2.5, 5} {
		if round*power >= step {
			return round * power * plotTicks
		}
	}
	return 10 * power * plotTicks
}

func (r *memoryReport) plotAxes(w *bytes.Buffer, top float64) {
	for i := range plotTicks + 1 {
		value := top * float64(i) / plotTicks
		y := plotY(value, top)
		fmt.Fprintf(w, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.4g</text>`+"\n",
			plotLeft, y, plotLeft+plotInnerW, plotLeft-8, y+4, value)
	}
	for i, line := range r.Limits {
		fmt.Fprintf(w, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", r.plotX(i), plotTop+plotInnerH+20, html.EscapeString(line.Limit))
	}
	fmt.Fprintf(w, `<text x="%d" y="%d" text-anchor="middle">memory limit; × no answer</text>`+"\n", plotLeft+plotInnerW/2, plotHeight-10)
}

// plotLine draws the engine that is number n, and its name beside the plot.
func (r *memoryReport) plotLine(w *bytes.Buffer, engine string, n int, top float64) {
	color := plotColors[engine]
	path, verb := "", "M" // a gap in the line where there is no answer
	above := plotNoAnswer + n*plotLineHeight
	for i, line := range r.Limits {
		x, c := r.plotX(i), line.Cells[engine]
		if c.Failed != "" {
			fmt.Fprintf(w, `<text x="%.1f" y="%d" text-anchor="middle" fill="%s"><title>%s</title>×</text>`+"\n", x, above, color, html.EscapeString(c.Failed))
			verb = "M"
			continue
		}
		y := plotY(c.median(), top)
		fmt.Fprintf(w, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%.2f s</title></circle>`+"\n", x, y, color, c.median())
		path += fmt.Sprintf("%s%.1f %.1f", verb, x, y)
		verb = "L"
	}
	fmt.Fprintf(w, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", path, color)
	fmt.Fprintf(w, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotLeft+plotInnerW+10, above, color, engine)
}

// plotX is where limit number i stands: in the middle of its share.
func (r *memoryReport) plotX(i int) float64 {
	return plotLeft + plotInnerW*(float64(i)+0.5)/float64(len(r.Limits))
}

func plotY(value, top float64) float64 { return plotTop + plotInnerH*(1-value/top) }
