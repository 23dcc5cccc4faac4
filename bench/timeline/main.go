// Command timeline draws a trace of gagg's as an SVG, for a page: a line for each worker, a bar for
// each thing that it did.
//
//	gagg … --trace trace.json && go run ./bench/timeline -title 'q10' trace.json >docs/trace.svg
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	title := flag.String("title", "", "a `text` above the drawing")
	flag.Parse()
	if err := draw(flag.Arg(0), *title); err != nil {
		fmt.Fprintln(os.Stderr, "timeline:", err)
		os.Exit(1)
	}
}

func draw(path, title string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var t trace
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	_, err = io.WriteString(os.Stdout, t.svg(title))
	return err
}

// trace is Chrome's format, as far as gagg writes it. Times are microseconds.
type trace struct {
	Events []struct {
		Name, Ph string
		Tid      int
		Start    float64 `json:"ts"`
		Took     float64 `json:"dur"`
		Args     struct {
			Name  string
			Index int `json:"sort_index"`
		}
	} `json:"traceEvents"`
}

type line struct {
	thread, index int
	name          string
}

// Where things are in the drawing, in pixels.
const (
	left, right, top, rowHeight = 90, 810, 40, 22
)

// svg draws the spans. Those of less than a third of a pixel are as wide as that.
func (t *trace) svg(title string) string {
	var end float64
	lines := map[int]*line{}
	for _, e := range t.Events {
		if lines[e.Tid] == nil {
			lines[e.Tid] = &line{thread: e.Tid}
		}
		switch e.Name {
		case "thread_name":
			lines[e.Tid].name = e.Args.Name
		case "thread_sort_index":
			lines[e.Tid].index = e.Args.Index
		}
		end = max(end, e.Start+e.Took)
	}
	var order []*line
	for _, l := range lines {
		if l.name != "" {
			order = append(order, l)
		}
	}
	slices.SortFunc(order, func(a, b *line) int { return cmp.Or(a.index-b.index, strings.Compare(a.name, b.name)) })
	y := map[int]int{}
	var b strings.Builder
	height := top + len(order)*rowHeight + 40
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n", right+20, height)
	fmt.Fprintf(&b, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"22\" font-size=\"14\">%s</text>\n", left, html.EscapeString(title))
	for i, l := range order {
		y[l.thread] = top + i*rowHeight
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left-8, y[l.thread]+15, html.EscapeString(l.name))
	}
	for _, e := range t.Events {
		if e.Ph != "X" {
			continue
		}
		kind, _, _ := strings.Cut(e.Name, " ")
		fmt.Fprintf(&b, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>%s, %.1f ms</title></rect>\n",
			left+e.Start/end*(right-left), y[e.Tid]+3, max(e.Took/end*(right-left)-.3, .33), rowHeight-6, colorOf(kind), html.EscapeString(e.Name), e.Took/1000)
	}
	axis := height - 34
	fmt.Fprintf(&b, "<path d=\"M%d %dH%d\" stroke=\"#888\"/>\n", left, axis, right)
	for i := range 5 {
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%.2f s</text>\n", left+i*(right-left)/4, axis+18, end*float64(i)/4/1e6)
	}
	return b.String() + "</svg>\n"
}

// colorOf is one of a palette that people who see few colours tell apart (Okabe and Ito).
func colorOf(kind string) string {
	switch kind {
	case "scan", "unit":
		return "#0072b2"
	case "partition", "output":
		return "#d55e00"
	}
	return "#999999"
}
