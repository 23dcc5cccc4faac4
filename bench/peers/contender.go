package main

import (
	"context"
	"os"
	"slices"
	"strings"
)

// contender answers questions end to end, in one way of several.
type contender interface {
	name() string
	// run answers a question; its answer is made and dropped, or kept in memory.
	run(ctx context.Context, q question) (spent, error)
	// write has its answer written as Parquet.
	write(ctx context.Context, q question, path string) error
	// stays says whether one process answers all runs, so that the first one is
	// unlike the others.
	stays() bool
	stop()
}

// whole is gagg as a whole process for each run.
type whole struct {
	gagg
	device string // and other flags, behind spaces
	limit  string // of memory; empty: none is named
	stats  string // file for what the last run says of itself
}

func (w whole) name() string { return "gagg " + w.device }

func (w whole) flags(more ...string) []string {
	flags := append([]string{"--device"}, strings.Fields(w.device)...)
	if w.limit != "" {
		flags = append(flags, "--memory-limit", w.limit)
	}
	return append(flags, more...)
}

func (w whole) run(ctx context.Context, q question) (spent, error) {
	return w.gagg.run(ctx, q, w.flags("-f", "none", "--stats="+w.stats)...)
}

func (w whole) write(ctx context.Context, q question, path string) error {
	_, err := w.gagg.run(ctx, q, w.flags("-o", path)...)
	return err
}

func (whole) stays() bool { return false }
func (whole) stop()       {}

// library is a program of gagg's library that stays and has the device open.
type library struct {
	*peer
	device string
}

func (l library) name() string { return "library " + l.device }

func (l library) run(_ context.Context, q question) (spent, error) {
	return l.peer.run(q)
}

func (l library) write(_ context.Context, q question, path string) error {
	return l.writeAnswer(q, path)
}

func (library) stays() bool { return true }

// duckDB puts its answers into a temporary table, which goes before the next
// contender's turn; or drops those to some questions at once.
type duckDB struct {
	*peer
	dropped []string
}

func (d duckDB) name() string { return d.engine }

func (d duckDB) run(_ context.Context, q question) (spent, error) {
	if slices.Contains(d.dropped, q.name) {
		answer, err := d.do(request{Run: q.sql(d.engine), To: "none"})
		return spent{seconds: answer.Seconds, cpu: answer.CPU}, err
	}
	s, err := d.peer.run(q)
	if err == nil {
		_, err = d.do(request{Query: "drop table r"})
	}
	return s, err
}

func (d duckDB) write(_ context.Context, q question, path string) error {
	_, err := d.do(request{Run: q.sql(d.engine), To: path})
	return err
}

func (duckDB) stays() bool { return true }

// interleaved has every contender answer q once in each round. Those that
// stay have answered once before, unless they are cold. One that fails is not
// asked again.
func interleaved(ctx context.Context, all []contender, q question, rounds int, cold bool) map[string]*cell {
	cells := map[string]*cell{}
	for _, c := range all {
		cells[c.name()] = &cell{}
	}
	for round := range rounds + 1 {
		counts := round > 0
		for _, c := range all {
			if cell := cells[c.name()]; cell.Failed == "" && (counts || c.stays() && !cold) {
				s, err := c.run(ctx, q)
				cell.add(counts, s, err)
			}
		}
	}
	return cells
}

// fingerprints compares what the contenders write with what the first one,
// DuckDB, does, each in its turn at path.
func fingerprints(ctx context.Context, all []contender, q question, cells map[string]*cell, path string) error {
	reader := all[0].(duckDB).peer
	var want fingerprint
	for i, c := range all {
		cell := cells[c.name()]
		if cell.Failed != "" {
			continue
		}
		got, err := fingerprintBy(ctx, reader, c, q, path)
		switch {
		case err != nil && i == 0:
			return err
		case err != nil:
			cell.Failed = err.Error()
		case i == 0:
			want = got
		default:
			cell.Differs = want.differs(got)
		}
	}
	return ctx.Err()
}

func fingerprintBy(ctx context.Context, reader *peer, c contender, q question, path string) (fingerprint, error) {
	defer os.Remove(path) //nolint:errcheck // may not exist
	if err := c.write(ctx, q, path); err != nil {
		return fingerprint{}, err
	}
	return fingerprintOf(reader, q, path)
}
