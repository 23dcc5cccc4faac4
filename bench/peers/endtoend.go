package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// endToEnd answers questions from Parquet to the answer: with gagg on each of
// some devices, as a whole process and from a program that has the device
// open, and with DuckDB.
type endToEnd struct {
	settings
	file string // what all read; a glob
	dir  string // for answers and statistics
}

// runEndToEnd measures each question and saves the table after it.
func runEndToEnd(ctx context.Context, s settings, b bench, at setting, asked []question) error {
	at.Machine.addGPU()
	dir, err := os.MkdirTemp("", "gagg-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what stays is in the system's folder for temporary files
	e := endToEnd{settings: s, dir: dir}
	r := endReport{setting: at, Rounds: s.rounds, Unchecked: splitList(s.unchecked), Dropped: splitList(s.dropped)}
	for _, q := range asked {
		fmt.Fprintf(os.Stderr, "%s: %s\n", q.name, q.sql("gagg"))
		line, names, err := e.answer(ctx, q, b)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		r.Names = names
		r.Results = append(r.Results, line)
		if err := r.setting.saveReport(&r, s.results, cmp.Or(s.name, r.kind())); err != nil {
			return err
		}
	}
	r.markdown(os.Stdout)
	return nil
}

// answer measures one question.
func (e *endToEnd) answer(ctx context.Context, q question, b bench) (line endResult, names []string, err error) {
	if e.file, err = e.dataOf(ctx, q); err != nil {
		return line, nil, err
	}
	all, err := e.contenders(ctx, b)
	for _, c := range all {
		defer c.stop()
		names = append(names, c.name())
	}
	if err != nil {
		return line, nil, err
	}
	facts, err := all[0].(duckDB).do(request{Facts: true})
	if err != nil {
		return line, nil, err
	}
	b.versions["duckdb"] = facts.Version
	cells := interleaved(ctx, all, q, e.rounds, e.cold)
	line = endResult{result: result{q.name, q.sql("gagg"), cells}, Did: map[string]json.RawMessage{}}
	if q.real != nil {
		line.Typed = q.real.command(q.data + ".parquet")
	}
	for _, c := range all {
		if w, ok := c.(whole); ok && cells[c.name()].Failed == "" {
			if line.Did[c.name()], err = os.ReadFile(w.stats); err != nil {
				return line, nil, err
			}
		}
	}
	if !slices.Contains(splitList(e.unchecked), q.name) {
		err = fingerprints(ctx, all, q.settled(), cells, filepath.Join(e.dir, "answer.parquet"))
	}
	return line, names, err
}

// dataOf is the file that a question is asked of: a real one its table's, the others one that
// DuckDB makes.
func (e *endToEnd) dataOf(ctx context.Context, q question) (string, error) {
	if e.settings.file != "" || q.real != nil {
		return dataFor(ctx, e.settings, q)
	}
	return e.makeData(ctx)
}

// contenders are DuckDB, gagg as whole processes, and its library, in this
// order. Those that were started come also with an error.
func (e *endToEnd) contenders(ctx context.Context, b bench) (all []contender, err error) {
	d, err := e.startDuckDB(ctx, e.file)
	if err != nil {
		return nil, err
	}
	all = append(all, duckDB{d, splitList(e.dropped)})
	for i, device := range deviceList(e.devices) {
		g := b.gagg
		g.file = e.file
		all = append(all, whole{g, device, e.limit, filepath.Join(e.dir, fmt.Sprintf("stats%d.json", i))})
	}
	for _, device := range deviceList(e.open) {
		p, err := talkTo("gagg", exec.CommandContext(ctx, e.library, e.file, strconv.Itoa(e.threads), device, e.limit))
		if err != nil {
			return all, err
		}
		all = append(all, library{p, device})
	}
	return all, nil
}

// deviceList is the devices of a list; commas part them, so that several GPUs of one are joined
// by plus signs.
func deviceList(list string) []string {
	devices := splitList(list)
	for i, device := range devices {
		devices[i] = strings.ReplaceAll(device, "+", ",")
	}
	return devices
}

// startDuckDB starts DuckDB by Python where its shared library is named, else
// by Node.
func (s settings) startDuckDB(ctx context.Context, file string) (*peer, error) {
	if s.duckdb == "" {
		return startPeer(ctx, "duckdb", file, s.threads, bounds{s.limit, s.temp})
	}
	return startLibrary(ctx, s.duckdb, file, s.threads, bounds{s.limit, s.temp})
}
