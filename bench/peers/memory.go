package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"
)

// contenders answer under a memory limit, the one that is measured first.
var contenders = []string{"gagg", "duckdb"}

// noLimit stands for what an engine takes without being told: 80 % of the
// machine, for both.
const noLimit = "default"

// Where DuckDB's answers go while they are timed. gagg makes every batch and
// drops it.
const (
	intoNothing = "nothing" // explain analyze, which drops them too
	intoTable   = "table"   // a temporary table, which comes under the limit
)

// memoryBench answers questions under one memory limit after another.
type memoryBench struct {
	bench   // its engines include gagg
	limits  []string
	into    string        // where DuckDB puts what it is timed for: intoNothing, intoTable
	timeout time.Duration // of one run
	temp    string        // folder for temporary files and answers
}

// runMemory measures each question, and prints and saves its table and plot
// after every limit: a run may take hours.
func runMemory(ctx context.Context, s settings, b bench, at setting, asked []question) error {
	m := memoryBench{bench: b, limits: splitList(s.memory), into: s.into, timeout: s.timeout}
	m.engines = contenders
	if s.into != intoNothing && s.into != intoTable {
		return fmt.Errorf("-into %q: want %s or %s", s.into, intoNothing, intoTable)
	}
	for _, limit := range m.limits {
		if _, err := limitBytes(limit); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp(s.temp, "memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the engines' garbage, and the run is over
	if m.temp, err = filepath.Abs(dir); err != nil {
		return err
	}
	for _, q := range asked {
		if m.gagg.file, err = dataFor(ctx, s, q); err != nil {
			return err
		}
		r := memoryReport{setting: at, Question: q.name, Into: s.into, SQL: q.sql("gagg")}
		save := func(line limited) error {
			r.Limits = append(r.Limits, line)
			if s.results == "" {
				return nil
			}
			return r.save(s.results)
		}
		err := m.answer(ctx, q, save)
		r.print(os.Stdout)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

// limitBytes reads a limit: 2GiB or 2GB as both engines do, 0 for none.
func limitBytes(limit string) (int64, error) {
	if limit == noLimit {
		return 0, nil
	}
	n, err := humanize.ParseBytes(limit)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("memory limit %q: want %q or a size such as 512MiB", limit, noLimit)
	}
	return int64(n), nil
}

// answer measures one question: at each limit the engines take turns, each
// run a process of its own, and then write their answers under the same limit.
// The first answer there is is what all others have to agree with.
func (m *memoryBench) answer(ctx context.Context, q question, save func(limited) error) error {
	var want *fingerprint
	for _, limit := range m.limits {
		fmt.Fprintf(os.Stderr, "%s, %s: %s\n", q.name, limit, q.sql("gagg"))
		bytes, err := limitBytes(limit)
		if err != nil {
			return err
		}
		line := limited{Limit: limit, Bytes: bytes, Cells: map[string]*cell{}}
		for _, engine := range m.engines {
			line.Cells[engine] = &cell{}
		}
		for range m.rounds {
			for _, engine := range m.engines {
				if c := line.Cells[engine]; c.Failed == "" {
					s, err := m.once(ctx, engine, q, limit, "none")
					c.add(true, s, err)
				}
			}
		}
		for _, engine := range m.engines {
			if c := line.Cells[engine]; c.Failed == "" {
				if want, err = m.check(ctx, engine, q, limit, c, want); err != nil {
					return err
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := save(line); err != nil {
			return err
		}
	}
	return nil
}

// once is one run of one engine in a new process. Its answer goes to a
// Parquet file, or is made and dropped.
func (m *memoryBench) once(ctx context.Context, engine string, q question, limit, to string) (spent, error) {
	if err := warm(m.gagg.file); err != nil {
		return spent{}, err
	}
	temp, err := os.MkdirTemp(m.temp, engine+"-")
	if err != nil {
		return spent{}, err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // m.temp goes as a whole
	timed, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	run := m.onceGagg
	if engine != "gagg" {
		run = m.onceDuckDB
	}
	s, err := run(timed, q, bounds{limit, temp}, to)
	if timed.Err() != nil && err != nil {
		err = fmt.Errorf("killed: not done after %v", m.timeout)
	}
	return s, err
}

func (m *memoryBench) onceGagg(ctx context.Context, q question, b bounds, to string) (spent, error) {
	flags := []string{"--temp-dir", b.temp}
	if b.memory != noLimit {
		flags = append(flags, "--memory-limit", b.memory)
	}
	if to == "none" {
		return m.gagg.run(ctx, q, append(flags, "-f", "none")...)
	}
	return m.gagg.run(ctx, q, append(flags, "-o", to)...)
}

func (m *memoryBench) onceDuckDB(ctx context.Context, q question, b bounds, to string) (spent, error) {
	p, err := startPeer(ctx, "duckdb", m.gagg.file, m.gagg.threads, b)
	if err != nil {
		return spent{}, err
	}
	facts, err := p.do(request{Facts: true}) // when it is up, with its version
	if err == nil {
		m.versions["duckdb"] = facts.Version
	}
	if to == "none" && m.into == intoTable {
		to = ""
	}
	answer, err := p.do(request{Run: q.sql("duckdb"), To: to})
	p.stop()
	s := spentBy(p.process.ProcessState)
	s.seconds, s.cpu = answer.Seconds, answer.CPU
	return s, err
}

// check has an engine write its answer under the limit, and compares it with
// the one wanted, or, if there is none yet, makes it the one wanted.
func (m *memoryBench) check(ctx context.Context, engine string, q question, limit string, c *cell, want *fingerprint) (*fingerprint, error) {
	path := filepath.Join(m.temp, engine+".parquet")
	defer os.Remove(path) //nolint:errcheck // may not exist
	s, err := m.once(ctx, engine, q, limit, path)
	c.Output = &output{Seconds: s.seconds, Peak: s.peak}
	if err != nil {
		c.Output.Failed = err.Error()
		return want, nil
	}
	reader, err := startPeer(ctx, "duckdb", path, m.gagg.threads, bounds{noLimit, m.temp})
	if err != nil {
		return want, err
	}
	defer reader.stop()
	got, err := fingerprintOf(reader, q, path)
	if err != nil {
		return want, fmt.Errorf("the answer of %s: %w", engine, err)
	}
	c.Output.Answer = got.String()
	if want == nil {
		return &got, nil
	}
	c.Differs = want.differs(got)
	return want, nil
}

// warm reads a file into the page cache, out of which an engine without a
// limit, or its temporary files, may have pushed it.
func warm(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	// Without the methods of *os.File: io.Copy would use a buffer all the same.
	_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20))
	return err
}
