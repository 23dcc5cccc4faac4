package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// cell is what one engine made of one question.
type cell struct {
	Seconds []float64 `json:"seconds"`           // of every round
	CPU     []float64 `json:"cpu,omitempty"`     // seconds of all threads, of every round
	Peak    int64     `json:"peak"`              // resident bytes of the process
	Written int64     `json:"written,omitempty"` // bytes written to files in a round
	Failed  string    `json:"failed,omitempty"`
	// from DuckDB's answer, or the first one under limits
	Differs string  `json:"differs,omitempty"`
	Output  *output `json:"output,omitempty"` // under limits
}

// output is the run that wrote an answer as Parquet, to be compared.
type output struct {
	Seconds float64 `json:"seconds"`
	Peak    int64   `json:"peak"`
	Failed  string  `json:"failed,omitempty"`
	Answer  string  `json:"answer,omitempty"` // its fingerprint
}

// median is the median of the rounds; 0 if there is none or one failed.
func (c *cell) median() float64 {
	if c == nil || c.Failed != "" {
		return 0
	}
	return medianOf(c.Seconds)
}

// cpu is likewise the median of the threads' seconds.
func (c *cell) cpu() float64 {
	if c == nil || c.Failed != "" {
		return 0
	}
	return medianOf(c.CPU)
}

// medianOf is 0 of none.
func medianOf(seconds []float64) float64 {
	if len(seconds) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(seconds))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// bench runs questions on the engines side by side.
type bench struct {
	gagg     gagg
	engines  []string // without gagg
	rounds   int
	duckdb   string // its shared library, which Python drives; empty: node does
	versions map[string]string
}

// start starts an engine that answers about a file.
func (b *bench) start(ctx context.Context, engine string) (*peer, error) {
	if engine == "duckdb" && b.duckdb != "" {
		return startLibrary(ctx, b.duckdb, b.gagg.file, b.gagg.threads, bounds{})
	}
	return startPeer(ctx, engine, b.gagg.file, b.gagg.threads, bounds{})
}

// onCPU keeps gagg off a GPU, for the others have none.
var onCPU = []string{"--device", "cpu"}

// answer measures one question. Every engine has a process of its own for
// it, so that peak memory belongs to the question, and answers once before
// the clock counts. A round asks all of them in turn: what the machine does
// besides falls on all alike.
func (b *bench) answer(ctx context.Context, q question) (map[string]*cell, error) {
	cells := map[string]*cell{"gagg": {}}
	var peers []*peer
	for _, engine := range b.engines {
		p, err := b.start(ctx, engine)
		if err != nil {
			return nil, err
		}
		defer p.stop()
		cells[engine] = &cell{}
		peers = append(peers, p)
	}
	for round := range b.rounds + 1 {
		counts := round > 0 // the first one warms up
		if cells["gagg"].Failed == "" {
			s, err := b.gagg.run(ctx, q, append(onCPU, "-f", "none")...)
			cells["gagg"].add(counts, s, err)
		}
		for _, p := range peers {
			if cells[p.engine].Failed == "" {
				s, err := p.run(q)
				cells[p.engine].add(counts, s, err)
			}
		}
	}
	for _, p := range peers {
		facts, err := p.do(request{Facts: true})
		if err != nil {
			return nil, err
		}
		cells[p.engine].Peak = facts.Peak
		b.versions[p.engine] = facts.Version
	}
	return cells, b.compare(ctx, q, peers, cells)
}

// add takes in a run, whose time counts or not.
func (c *cell) add(counts bool, s spent, err error) {
	c.Peak = max(c.Peak, s.peak)
	switch {
	case err != nil:
		c.Failed = err.Error()
	case counts:
		c.Seconds = append(c.Seconds, s.seconds)
		if s.cpu > 0 { // else it is not known
			c.CPU = append(c.CPU, s.cpu)
		}
		c.Written = max(c.Written, s.written)
	}
}

// compare checks every answer against DuckDB's.
func (b *bench) compare(ctx context.Context, q question, peers []*peer, cells map[string]*cell) error {
	at := slices.IndexFunc(peers, func(p *peer) bool { return p.engine == "duckdb" })
	if at < 0 {
		return nil
	}
	if why := cells["duckdb"].Failed; why != "" {
		return fmt.Errorf("there is no answer to compare with: %s", why)
	}
	dir, err := os.MkdirTemp("", "gagg-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what stays is in the system's folder for temporary files
	path := func(engine string) string { return filepath.Join(dir, engine+".parquet") }

	q = q.settled()
	for _, p := range peers {
		if cells[p.engine].Failed == "" {
			if err := p.writeAnswer(q, path(p.engine)); err != nil {
				return err
			}
		}
	}
	if cells["gagg"].Failed == "" {
		if _, err := b.gagg.run(ctx, q, append(onCPU, "-o", path("gagg"))...); err != nil {
			return err
		}
	}
	want, err := fingerprintOf(peers[at], q, path("duckdb"))
	if err != nil {
		return err
	}
	for engine, c := range cells {
		if c.Failed != "" {
			continue
		}
		got, err := fingerprintOf(peers[at], q, path(engine))
		if err != nil {
			return fmt.Errorf("the answer of %s: %w", engine, err)
		}
		c.Differs = want.differs(got)
	}
	return nil
}
