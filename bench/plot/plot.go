// Package plot draws line charts as SVG for the reports of bench/.
//
// A Chart has named places at equal distances along x (memory limits, powers of
// two) and lines over them. Where a line has no value it is interrupted, and
// the reason can be marked above. A Grid lays several charts out in one file.
package plot

import (
	"bytes"
	"fmt"
	"html"
	"math"
)

// Chart is one plot.
type Chart struct {
	Title  string
	XTitle string
	Places []string // along x
	Lines  []Line
	Log    bool // the y axis is logarithmic: only values above 0 are drawn
}

// Line is what is plotted of one thing.
type Line struct {
	Name   string
	Color  string    // empty: Color of its number
	Dashed bool      // a formula beside what was measured
	Values []float64 // one for each place; 0 or NaN: there is none
	Unit   string    // of a value, in the text shown over a point
	None   []string  // why a place has no value: marked with a cross; may be nil
}

// Size of a chart, and of the axes' corner in it, in pixels.
const (
	width, height = 720, 400
	left, right   = 60, 90 // right: room for the lines' names
	top, bottom   = 50, 50
	innerW        = width - left - right
	innerH        = height - top - bottom
	ticks         = 5
	noValue       = top + 16 // where a place without a value is marked
	lineHeight    = 16
)

// colors stay apart for the color-blind (Okabe and Ito).
var colors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"}

// Color is the color that line number n has by itself.
func Color(n int) string { return colors[n%len(colors)] }

// SVG is the chart as a file.
func (c *Chart) SVG() []byte { return Grid(1, c) }

// Grid is a file of several charts, so many side by side.
func Grid(columns int, charts ...*Chart) []byte {
	rows := (len(charts) + columns - 1) / columns
	var w bytes.Buffer
	fmt.Fprintf(&w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		width*columns, height*rows)
	fmt.Fprintln(&w, `<rect width="100%" height="100%" fill="white"/>`)
	for i, c := range charts {
		fmt.Fprintf(&w, `<g transform="translate(%d %d)">`+"\n", width*(i%columns), height*(i/columns))
		c.draw(&w)
		fmt.Fprintln(&w, "</g>")
	}
	fmt.Fprintln(&w, "</svg>")
	return w.Bytes()
}

func (c *Chart) draw(w *bytes.Buffer) {
	fmt.Fprintf(w, `<text x="%d" y="22" font-size="14">%s</text>`+"\n", left, html.EscapeString(c.Title))
	s := c.scale()
	for _, value := range s.ticks() {
		y := s.y(value)
		fmt.Fprintf(w, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.4g</text>`+"\n",
			left, y, left+innerW, left-8, y+4, value)
	}
	for i, place := range c.Places {
		fmt.Fprintf(w, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", c.x(i), top+innerH+20, html.EscapeString(place))
	}
	fmt.Fprintf(w, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", left+innerW/2, height-10, html.EscapeString(c.XTitle))
	for n := range c.Lines {
		c.drawLine(w, n, s)
	}
}

// drawLine draws line number n, and its name beside the chart.
func (c *Chart) drawLine(w *bytes.Buffer, n int, s scale) {
	l := &c.Lines[n]
	color, dash := l.Color, ""
	if color == "" {
		color = Color(n)
	}
	if l.Dashed {
		dash = ` stroke-dasharray="5 4"`
	}
	path, verb := "", "M" // a gap in the line where there is no value
	above := noValue + n*lineHeight
	for i := range c.Places {
		if !l.has(i) {
			if i < len(l.None) && l.None[i] != "" {
				fmt.Fprintf(w, `<text x="%.1f" y="%d" text-anchor="middle" fill="%s"><title>%s</title>×</text>`+"\n", c.x(i), above, color, html.EscapeString(l.None[i]))
			}
			verb = "M"
			continue
		}
		x, y := c.x(i), s.y(l.Values[i])
		if !l.Dashed {
			fmt.Fprintf(w, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%.4g %s</title></circle>`+"\n", x, y, color, l.Values[i], l.Unit)
		}
		path += fmt.Sprintf("%s%.1f %.1f", verb, x, y)
		verb = "L"
	}
	fmt.Fprintf(w, `<path d="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", path, color, dash)
	fmt.Fprintf(w, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", left+innerW+10, above, color, html.EscapeString(l.Name))
}

// has says whether there is a value at place i.
func (l *Line) has(i int) bool {
	return i < len(l.Values) && l.Values[i] > 0 && !math.IsInf(l.Values[i], 0)
}

// x is where place i stands: in the middle of its share.
func (c *Chart) x(i int) float64 {
	return left + innerW*(float64(i)+0.5)/float64(len(c.Places))
}
