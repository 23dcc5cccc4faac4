package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// scalingReport is the result file of questions asked with several numbers of
// threads.
type scalingReport struct {
	setting
	Rounds  int             `json:"rounds"`
	Counts  []int           `json:"counts"` // of threads
	Engines []string        `json:"engines"`
	Results []scalingResult `json:"results"`
}

// scalingResult is the lines of one question.
type scalingResult struct {
	Question string           `json:"question"`
	Curves   map[string]curve `json:"curves"` // by engine
}

// curve is a cell for each number of threads.
type curve []*cell

// runScaling measures each question and saves the table after it.
func runScaling(ctx context.Context, s settings, b bench, at setting, asked []question) error {
	r := scalingReport{setting: at, Rounds: s.rounds}
	for _, count := range splitList(s.scaling) {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return fmt.Errorf("-scaling %s: %q is no number of threads", s.scaling, count)
		}
		r.Counts = append(r.Counts, n)
		r.Threads = max(r.Threads, n)
	}
	b.engines = b.engines[:min(len(b.engines), 1)]
	r.Engines = append([]string{"gagg"}, b.engines...)
	for _, q := range asked {
		var err error
		if b.gagg.file, err = dataFor(ctx, s, q); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", q.name, q.sql("gagg"))
		curves, err := b.curves(ctx, q, r.Counts)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		r.Results = append(r.Results, scalingResult{q.name, curves})
		if err := r.setting.saveReport(&r, s.results, cmp.Or(s.name, "scaling")); err != nil {
			return err
		}
	}
	r.markdown(os.Stdout)
	return nil
}

// curves measures one question: a round asks gagg and the peer with each number
// of threads in turn. The peers are processes of their own, too.
func (b *bench) curves(ctx context.Context, q question, counts []int) (map[string]curve, error) {
	curves := map[string]curve{}
	var peers []*peer // of each number of threads, those of all engines
	for _, count := range counts {
		curves["gagg"] = append(curves["gagg"], &cell{})
		for _, engine := range b.engines {
			at := *b
			at.gagg.threads = count
			p, err := at.start(ctx, engine)
			if err != nil {
				return nil, err
			}
			defer p.stop()
			curves[engine] = append(curves[engine], &cell{})
			peers = append(peers, p)
		}
	}
	for round := range b.rounds + 1 {
		for i, count := range counts {
			own := b.gagg
			own.threads = count
			curves["gagg"][i].ask(round > 0, func() (spent, error) { return own.run(ctx, q, append(onCPU, "-f", "none")...) })
			for _, p := range peers[i*len(b.engines) : (i+1)*len(b.engines)] {
				curves[p.engine][i].ask(round > 0, func() (spent, error) { return p.run(q) })
			}
		}
	}
	for i, p := range peers {
		facts, err := p.do(request{Facts: true})
		if err != nil {
			return nil, err
		}
		curves[p.engine][i/len(b.engines)].Peak = facts.Peak
		b.versions[p.engine] = facts.Version
	}
	return curves, ctx.Err()
}

// ask takes in a run, unless one has failed.
func (c *cell) ask(counts bool, run func() (spent, error)) {
	if c.Failed == "" {
		s, err := run()
		c.add(counts, s, err)
	}
}

// speedUp is how many times as fast the last number of threads is as the first; 0:
// not known.
func (c curve) speedUp() float64 {
	first, last := c[0].median(), c[len(c)-1].median()
	if first == 0 || last == 0 {
		return 0
	}
	return first / last
}

// serial is the share of the work that threads do not speed up, after Amdahl:
// the seconds a + b/threads that fit best give a/(a+b). The seconds count
// relative to what is measured, so that the many threads weigh as much as the
// one. ok is false where less than two numbers of threads have an answer.
func (c curve) serial(counts []int) (share float64, ok bool) {
	var xx, xy, x1, yy, y1 float64 // weighted sums over the counts
	n := 0
	for i, cell := range c {
		seconds := cell.median()
		if seconds == 0 {
			continue
		}
		n++
		x, w := 1/float64(counts[i]), 1/(seconds*seconds)
		xx += w * x * x
		x1 += w * x
		xy += w * x * seconds
		y1 += w * seconds
		yy += w
	}
	determinant := xx*yy - x1*x1
	if n < 2 || determinant <= 0 {
		return 0, false
	}
	a, b := (xx*y1-x1*xy)/determinant, (yy*xy-x1*y1)/determinant
	return min(max(a/(a+b), 0), 1), true
}

// markdown writes a line for each question and engine.
func (r *scalingReport) markdown(w io.Writer) {
	fmt.Fprintf(w, "# Seconds by threads, %d rows\n\n%s, %d cores, %s; %s\n", r.Rows, r.Machine.CPU, r.Machine.Cores, r.Machine.Memory, r.Versions["gagg"])
	fmt.Fprintf(w, "commit %s, %s; medians of %d rounds of all in turns; `peers %s`\n\n", r.Commit, r.Date, r.Rounds, r.Command)
	fmt.Fprint(w, "serial: the share of the work that threads do not speed up, after Amdahl\n\n| | |")
	for _, count := range r.Counts {
		fmt.Fprintf(w, " %d |", count)
	}
	fmt.Fprintf(w, " speed-up | serial |\n|---|---|%s\n", strings.Repeat("---:|", len(r.Counts)+2))
	ups := map[string][]float64{}
	for _, line := range r.Results {
		for _, engine := range r.Engines {
			c := line.Curves[engine]
			fmt.Fprintf(w, "| %s | %s |", line.Question, engine)
			for _, cell := range c {
				fmt.Fprintf(w, " %s |", orDash("%.3f", cell.median()))
			}
			share := "-"
			if s, ok := c.serial(r.Counts); ok {
				share = fmt.Sprintf("%.0f %%", s*100)
			}
			ups[engine] = append(ups[engine], c.speedUp())
			fmt.Fprintf(w, " %s | %s |\n", orDash("%.1f", c.speedUp()), share)
		}
	}
	for _, engine := range r.Engines {
		fmt.Fprintf(w, "| geometric mean | %s |%s %s | |\n", engine, strings.Repeat(" |", len(r.Counts)), orDash("%.1f", geometricMean(ups[engine])))
	}
	fmt.Fprintln(w)
	for _, line := range r.Results {
		for _, engine := range r.Engines {
			for i, cell := range line.Curves[engine] {
				if cell.Failed != "" {
					fmt.Fprintf(w, "%s: %s has no answer with %d threads: %s\n\n", line.Question, engine, r.Counts[i], cell.Failed)
				}
			}
		}
	}
}
