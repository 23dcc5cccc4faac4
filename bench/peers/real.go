package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// realReport is the result file of sets of real queries.
type realReport struct {
	setting
	Rounds  int          `json:"rounds"`
	Engines []string     `json:"engines"` // beside gagg
	Results []realResult `json:"results"`
}

// realResult is the line of one question.
type realResult struct {
	result
	Typed string `json:"typed"` // for gagg
}

// runReal measures each question and saves the table after it: a run may take
// an hour.
func runReal(ctx context.Context, s settings, b bench, at setting, asked []question) error {
	r := realReport{setting: at, Rounds: s.rounds, Engines: b.engines}
	for _, q := range asked {
		line, err := b.realQuestion(ctx, s, q)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		r.Results = append(r.Results, line)
		if err := r.setting.saveReport(&r, s.results, cmp.Or(s.name, "real")); err != nil {
			return err
		}
	}
	r.markdown(os.Stdout)
	return nil
}

func (b *bench) realQuestion(ctx context.Context, s settings, q question) (line realResult, err error) {
	if q.real == nil {
		return line, fmt.Errorf("is no real query; ask it without the others")
	}
	if b.gagg.file, err = dataFor(ctx, s, q); err != nil {
		return line, err
	}
	line = realResult{result: result{Question: q.name, SQL: q.sql("duckdb")}, Typed: q.real.command(q.data + ".parquet")}
	fmt.Fprintf(os.Stderr, "%s: %s\n", q.name, line.Typed)
	line.Cells, err = b.answer(ctx, q)
	return line, err
}

// Where the mark is: a question that takes DuckDB so long may not take gagg
// longer; of a smaller one the whole process may take so much more.
const (
	markedFrom = .030
	startUp    = .025
)

// behind says whether gagg misses the mark.
func (r realResult) behind() bool {
	own, other := r.Cells["gagg"].median(), r.Cells["duckdb"].median()
	switch {
	case own == 0 || other == 0:
		return false
	case other >= markedFrom:
		return own > other
	}
	return own > other+startUp
}

// byRatio is the lines with those where gagg is behind DuckDB first, the worst
// of them at the top; the others keep their order.
func (r *realReport) byRatio() []realResult {
	slower := func(line realResult) bool { ratio := line.ratio("duckdb"); return ratio > 0 && ratio < 1 }
	lines := slices.Clone(r.Results)
	slices.SortStableFunc(lines, func(a, b realResult) int {
		switch {
		case slower(a) && slower(b):
			return cmp.Compare(a.ratio("duckdb"), b.ratio("duckdb"))
		case slower(a):
			return -1
		case slower(b):
			return 1
		}
		return 0
	})
	return lines
}

// markdown writes the table: medians, peaks, ratios; what went wrong; the
// commands.
func (r *realReport) markdown(w io.Writer) {
	fmt.Fprintf(w, "# Real queries, %d rows, %d threads\n\n%s, %d cores, %s; %s; %s\n", r.Rows, r.Threads,
		r.Machine.CPU, r.Machine.Cores, r.Machine.Memory, r.Machine.Go, r.versionList())
	fmt.Fprintf(w, "commit %s, %s; medians of %d rounds of all in turns; `peers %s`\n\n", r.Commit, r.Date, r.Rounds, r.Command)
	all := append([]string{"gagg"}, r.Engines...)
	fmt.Fprintf(w, "| | %s s | %s CPU s | %s MB | %s ÷ gagg |\n|---|%s\n", strings.Join(all, " s | "), strings.Join(all, " CPU s | "),
		strings.Join(all, " MB | "), strings.Join(r.Engines, " ÷ gagg | "), strings.Repeat("---:|", 4*len(all)-1))
	ratios := map[string][]float64{}
	for _, line := range r.byRatio() {
		fmt.Fprintf(w, "| %s |", line.Question)
		for _, e := range all {
			fmt.Fprintf(w, " %s |", orDash("%.3f", line.Cells[e].median()))
		}
		for _, e := range all {
			fmt.Fprintf(w, " %s |", orDash("%.3f", line.Cells[e].cpu()))
		}
		for _, e := range all {
			fmt.Fprintf(w, " %s |", orDash("%.0f", float64(line.Cells[e].Peak)/1e6))
		}
		for _, e := range r.Engines {
			ratios[e] = append(ratios[e], line.ratio(e))
			fmt.Fprintf(w, " %s |", orDash("%.2f", line.ratio(e)))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "| geometric mean |%s", strings.Repeat(" |", 3*len(all)))
	for _, e := range r.Engines {
		fmt.Fprintf(w, " %s |", orDash("%.2f", geometricMean(ratios[e])))
	}
	fmt.Fprint(w, "\n\n")
	r.notes(w, ratios["duckdb"])
}

func (r *realReport) versionList() string {
	list := []string{r.Versions["gagg"]}
	for _, e := range r.Engines {
		list = append(list, e+" "+r.Versions[e])
	}
	return strings.Join(list, ", ")
}

// notes says how many questions miss the mark, what went wrong, and what was
// typed.
func (r *realReport) notes(w io.Writer, ratios []float64) {
	compared, slower, behind, larger := 0, 0, 0, 0
	var work []float64 // DuckDB's seconds of all threads by gagg's
	var asReport report
	for i, line := range r.Results {
		asReport.Results = append(asReport.Results, line.result)
		if ratios != nil && ratios[i] > 0 {
			compared++
		}
		if ratio := line.ratio("duckdb"); ratio > 0 && ratio < 1 {
			slower++
		}
		if own, other := line.Cells["gagg"].cpu(), line.Cells["duckdb"].cpu(); own > 0 && other > 0 {
			work = append(work, other/own)
		}
		if line.behind() {
			behind++
		}
		if c := line.Cells["duckdb"]; c != nil && line.Cells["gagg"].Peak > c.Peak {
			larger++
		}
	}
	fmt.Fprintf(w, "%d of %d questions compared with DuckDB; %d slower, of which %d miss the mark (slower where DuckDB takes %.0f ms or more, else by more than %.0f ms); "+
		"%d with a higher peak; DuckDB's CPU s ÷ gagg's: geometric mean %s\n\n",
		compared, len(r.Results), slower, behind, markedFrom*1e3, startUp*1e3, larger, orDash("%.2f", geometricMean(work)))
	var troubles bytes.Buffer
	if !asReport.printTroubles(&troubles) {
		fmt.Fprintln(&troubles, "all answers agree")
	}
	fmt.Fprintf(w, "%s\n", strings.ReplaceAll(troubles.String(), "\n", "\n\n"))
	for _, line := range r.Results {
		fmt.Fprintf(w, "    %s: %s\n", line.Question, line.Typed)
	}
}
