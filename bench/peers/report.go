package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// setting is what has to be known to measure the same again.
type setting struct {
	Machine  machine           `json:"machine"`
	Commit   string            `json:"commit"`
	Command  string            `json:"command"`
	Date     string            `json:"date"`
	Rows     int64             `json:"rows"`
	Threads  int               `json:"threads"`
	Versions map[string]string `json:"versions"`
}

// report is the result file of a run.
type report struct {
	setting
	Results []result `json:"results"`
}

// result is the line of one question.
type result struct {
	Question string           `json:"question"`
	SQL      string           `json:"sql"`
	Cells    map[string]*cell `json:"engines"`
}

// ratio is how many times longer than gagg an engine took; 0: not known.
func (r result) ratio(engine string) float64 {
	own, other := r.Cells["gagg"].median(), r.Cells[engine].median()
	if own == 0 || other == 0 {
		return 0
	}
	return other / own
}

// geometricMean of the ratios that are known; 0 if none is.
func geometricMean(ratios []float64) float64 {
	sum, n := 0.0, 0
	for _, r := range ratios {
		if r > 0 {
			sum += math.Log(r)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return math.Exp(sum / float64(n))
}

// print writes the table: medians, peaks, ratios, and what went wrong.
func (r *report) print(w io.Writer, engines []string) {
	all := append([]string{"gagg"}, engines...)
	fmt.Fprintf(w, "%s, %d threads, %d rows; gagg as a whole process, the others without their start\n\n", r.Machine.CPU, r.Threads, r.Rows)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\t%s s\t%s MB\t%s/gagg\t\n", strings.Join(all, " s\t"), strings.Join(all, " MB\t"), strings.Join(engines, "/gagg\t"))
	ratios := map[string][]float64{}
	for _, line := range r.Results {
		fmt.Fprint(t, line.Question, "\t")
		for _, e := range all {
			fmt.Fprint(t, orDash("%.3f", line.Cells[e].median()), "\t")
		}
		for _, e := range all {
			fmt.Fprint(t, orDash("%.0f", float64(line.Cells[e].Peak)/1e6), "\t")
		}
		for _, e := range engines {
			ratios[e] = append(ratios[e], line.ratio(e))
			fmt.Fprint(t, orDash("%.2f", line.ratio(e)), "\t")
		}
		fmt.Fprintln(t)
	}
	fmt.Fprint(t, "geometric mean", strings.Repeat("\t", 2*len(all)+1))
	for _, e := range engines {
		fmt.Fprint(t, orDash("%.2f", geometricMean(ratios[e])), "\t")
	}
	fmt.Fprintln(t)
	_ = t.Flush()
	fmt.Fprintln(w)
	if !r.printTroubles(w) {
		fmt.Fprintln(w, "all answers agree")
	}
}

// printTroubles names failures and answers that differ.
func (r *report) printTroubles(w io.Writer) (any bool) {
	for _, line := range r.Results {
		for engine, c := range line.Cells {
			if c.Failed != "" {
				fmt.Fprintf(w, "%s: %s has no answer: %s\n", line.Question, engine, c.Failed)
			}
			if c.Differs != "" {
				fmt.Fprintf(w, "%s: %s DIFFERS from DuckDB: %s\n", line.Question, engine, c.Differs)
			}
			any = any || c.Failed != "" || c.Differs != ""
		}
	}
	return any
}

func orDash(format string, f float64) string {
	if f == 0 {
		return "-"
	}
	return fmt.Sprintf(format, f)
}

func (r *report) save(dir string) (path string, err error) {
	return r.setting.save(dir, "peers", ".json", indented(r))
}

// indented is v as a text file of JSON.
func indented(v any) []byte {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		panic(err) // numbers and texts: a fault of this program
	}
	return append(text, '\n')
}

// save writes a file below dir, in a folder named after the processor.
func (s *setting) save(dir, name, extension string, content []byte) (path string, err error) {
	path = filepath.Join(dir, s.Machine.slug(), fmt.Sprintf("%s-%drows-%dthreads%s", name, s.Rows, s.Threads, extension))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, content, 0o644)
}

// saveReport writes the table of r and every measurement in it below dir; nothing if dir is empty.
func (s *setting) saveReport(r interface{ markdown(w io.Writer) }, dir, name string) error {
	if dir == "" {
		return nil
	}
	var table bytes.Buffer
	r.markdown(&table)
	if _, err := s.save(dir, name, ".md", table.Bytes()); err != nil {
		return err
	}
	_, err := s.save(dir, name, ".json", indented(r))
	return err
}
