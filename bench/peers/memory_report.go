package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// memoryReport is the result file of one question under several limits.
type memoryReport struct {
	setting
	Question string    `json:"question"`
	Into     string    `json:"into"` // of DuckDB's timed answers
	SQL      string    `json:"sql"`
	Limits   []limited `json:"limits"`
}

// limited is the line of one limit.
type limited struct {
	Limit string           `json:"limit"`
	Bytes int64            `json:"bytes"` // 0: none
	Cells map[string]*cell `json:"engines"`
}

const mebibyte = 1 << 20

// title is the measurement in a line.
func (r *memoryReport) title() string {
	title := fmt.Sprintf("%s, %d rows, %d threads, %s", r.Question, r.Rows, r.Threads, r.Machine.CPU)
	if r.Into == intoTable {
		title += ", DuckDB into a temporary table"
	}
	return title
}

// print writes the table as Markdown, and below it what went wrong.
func (r *memoryReport) print(w io.Writer) {
	fmt.Fprintf(w, "\n### %s\n\n`%s`\n\n", r.title(), r.SQL)
	fmt.Fprint(w, "| limit |")
	for _, column := range []string{"%s s", "%s peak MiB", "%s written MiB"} {
		for _, e := range contenders {
			fmt.Fprintf(w, " "+column+" |", e)
		}
	}
	fmt.Fprintf(w, " duckdb/gagg |\n|---|%s\n", strings.Repeat("---:|", 3*len(contenders)+1))
	for _, line := range r.Limits {
		fmt.Fprintf(w, "| %s |", line.Limit)
		for _, of := range []func(*cell) string{seconds, line.peak, written} {
			for _, e := range contenders {
				fmt.Fprintf(w, " %s |", of(line.Cells[e]))
			}
		}
		ratio := result{Cells: line.Cells}.ratio("duckdb")
		fmt.Fprintf(w, " %s |\n", orDash("%.2f", ratio))
	}
	fmt.Fprintln(w)
	for _, e := range contenders {
		if slowest := r.slowest(e); slowest > 0 {
			fmt.Fprintf(w, "%s: the slowest limit takes %.2f times as long as the fastest\n", e, slowest)
		}
	}
	if !r.printTroubles(w) {
		fmt.Fprintln(w, "all answers agree, no peak is over its limit")
	}
}

func seconds(c *cell) string {
	if c.Failed != "" {
		return reason(c.Failed)
	}
	return orDash("%.2f", c.median())
}

func written(c *cell) string { return fmt.Sprintf("%.0f", float64(c.Written)/mebibyte) }

// peak is bold where it is over the limit.
func (l limited) peak(c *cell) string {
	text := fmt.Sprintf("%.0f", float64(c.Peak)/mebibyte)
	if l.over(c.Peak) > 0 {
		return "**" + text + "**"
	}
	return text
}

// over is how many bytes a peak is over the limit.
func (l limited) over(peak int64) int64 {
	if l.Bytes == 0 {
		return 0
	}
	return max(peak-l.Bytes, 0)
}

// reason is a failure in a table cell: DuckDB's class of error, gagg's exit
// status, or that it was killed.
func reason(failed string) string {
	for _, prefix := range []string{"gagg: ", "duckdb: ", "signal: "} {
		failed = strings.TrimPrefix(failed, prefix)
	}
	if end := strings.IndexAny(failed, ":("); end >= 0 {
		failed = failed[:end]
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(failed), " Error"))
}

// slowest is the ratio of an engine's longest median to its shortest, of the
// limits at which it has an answer; 0: it has none.
func (r *memoryReport) slowest(engine string) float64 {
	low, high := 0.0, 0.0
	for _, line := range r.Limits {
		if s := line.Cells[engine].median(); s > 0 {
			if low == 0 {
				low = s
			}
			low, high = min(low, s), max(high, s)
		}
	}
	if low == 0 {
		return 0
	}
	return high / low
}

// printTroubles names failures, answers that differ and limits that did not
// hold.
func (r *memoryReport) printTroubles(w io.Writer) (any bool) {
	for _, line := range r.Limits {
		for _, e := range contenders {
			for _, trouble := range line.troubles(line.Cells[e]) {
				fmt.Fprintf(w, "- %s: %s %s\n", line.Limit, e, trouble)
				any = true
			}
		}
	}
	return any
}

func (l limited) troubles(c *cell) []string {
	var list []string
	if c.Failed != "" {
		list = append(list, "has no answer: "+c.Failed)
	}
	if c.Differs != "" {
		list = append(list, "DIFFERS from the first answer: "+c.Differs)
	}
	if over := l.over(c.Peak); over > 0 {
		list = append(list, fmt.Sprintf("is %.1f MiB over its limit", float64(over)/mebibyte))
	}
	if c.Output == nil {
		return list
	}
	if c.Output.Failed != "" {
		list = append(list, "cannot write its answer as Parquet: "+c.Output.Failed)
	}
	if over := l.over(c.Output.Peak); over > 0 {
		list = append(list, fmt.Sprintf("is %.1f MiB over its limit where it writes its answer as Parquet", float64(over)/mebibyte))
	}
	return list
}

// save writes all of the report: the measurements, the table and the plot.
func (r *memoryReport) save(dir string) error {
	var table bytes.Buffer
	r.print(&table)
	name := "memory-" + r.Question
	if r.Into == intoTable {
		name += "-" + intoTable
	}
	for extension, content := range map[string][]byte{
		".json": indented(r), ".md": bytes.TrimLeft(table.Bytes(), "\n"), ".svg": r.plot(),
	} {
		if _, err := r.setting.save(dir, name, extension, content); err != nil {
			return err
		}
	}
	return nil
}
