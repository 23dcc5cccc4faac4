package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gagg-dev/gagg/bench/device"
)

// row is a case with its medians.
type row struct {
	testCase
	figures
}

// report is the result file.
type report struct {
	device.Setting
	Rows  []row         `json:"rows"`
	Marks []device.Mark `json:"marks"`
}

// best is the fastest of a kind; without any, its rate is 0.
func (r *report) best(kind string) (b row) {
	for _, x := range r.Rows {
		if x.Kind == kind && x.Rate > b.Rate {
			b = x
		}
	}
	return b
}

// share of the link's rate, in percent.
func (r *report) share(x row) float64 {
	if l := r.best(link).Rate; l > 0 {
		return 100 * x.Rate / l
	}
	return 0
}

// marks are 90 % of the rate that plain copies reach, whence ever the data come.
func (r *report) marks() []device.Mark {
	var list []device.Mark
	for _, kind := range []string{pinned, pageable} {
		b := r.best(kind)
		list = append(list, device.Mark{
			What: "data that are " + kind + ", of plain copies: " + b.String(), Got: r.share(b), Want: 90, Unit: "%", None: b.Rate == 0,
		})
	}
	return list
}

// table is the report as Markdown.
func (r *report) table() []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "### Through a pipeline of streams\n\n%s\n\n| case | GB/s | of the link, %% | cores busy | start, ms |\n|---|---:|---:|---:|---:|\n", &r.Setting)
	for _, x := range r.Rows {
		start := "-"
		if x.Streams > 0 {
			start = fmt.Sprintf("%.3g", x.Start)
		}
		fmt.Fprintf(&w, "| %v | %.4g | %.3g | %.2g | %s |\n", x.testCase, x.Rate, r.share(x), x.Cores, start)
	}
	return w.Bytes()
}

// publish saves the result files, and prints the table and, last, the marks.
func (r *report) publish(w io.Writer, dir string) error {
	r.Marks = r.marks()
	fmt.Fprintf(w, "%s\n", r.table())
	if err := r.SaveAll(w, dir, map[string][]byte{"streams.json": device.JSON(r), "streams.md": r.table()}); err != nil {
		return err
	}
	fmt.Fprintln(w)
	device.PrintMarks(w, r.Marks)
	return nil
}
