package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// peer is an engine in a warm process; see peer.mjs for what it is asked.
type peer struct {
	engine  string
	process *exec.Cmd
	ask     *json.Encoder
	close   func() error
	replies *bufio.Reader
}

// request is one line to peer.mjs. Exactly one of Run, Write, Query and Facts
// is set, and To with Run alone.
type request struct {
	Run   string   `json:"run,omitempty"`
	To    string   `json:"to,omitempty"`
	By    []string `json:"by,omitempty"`
	Aggs  []term   `json:"aggs,omitempty"`
	List  string   `json:"list,omitempty"` // Aggs as gagg -a takes them
	more           // of a real query, for gagg's library
	Write string   `json:"write,omitempty"`
	Query string   `json:"query,omitempty"`
	Facts bool     `json:"facts,omitempty"`
}

// more is the clauses of a real query beside its keys and aggregates, as gagg's flags take them.
type more struct {
	Where  string `json:"where,omitempty"`
	Having string `json:"having,omitempty"`
	Order  string `json:"order,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Offset int    `json:"offset,omitempty"`
}

// reply is one line from peer.mjs.
type reply struct {
	Error   string  `json:"error"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"` // of all threads
	Version string  `json:"version"`
	Peak    int64   `json:"peak"` // bytes
	Rows    [][]any `json:"rows"`
}

// bounds is what DuckDB is told to keep to; empty: its defaults.
type bounds struct {
	memory string // a size such as 512MiB
	temp   string // folder
}

// startPeer starts a process for one engine, which answers from then on. The
// end of ctx kills it.
func startPeer(ctx context.Context, engine, file string, threads int, b bounds) (*peer, error) {
	count := strconv.Itoa(threads)
	process := exec.CommandContext(ctx, "node", "bench/peers/peer.mjs", engine, file, count, b.memory, b.temp)
	process.Env = append(os.Environ(), "POLARS_MAX_THREADS="+count)
	return talkTo(engine, process)
}

// startLibrary starts DuckDB by its shared library, which Python drives.
func startLibrary(ctx context.Context, library, file string, threads int, b bounds) (*peer, error) {
	args := []string{"bench/peers/peer.py", library, file, strconv.Itoa(threads)}
	if b.memory != "" {
		args = append(args, b.memory, b.temp)
	}
	return talkTo("duckdb", exec.CommandContext(ctx, "python3", args...))
}

// talkTo starts a process that speaks as peer.mjs does.
func talkTo(engine string, process *exec.Cmd) (*peer, error) {
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", engine, err)
	}
	return &peer{engine: engine, process: process, ask: json.NewEncoder(in), close: in.Close, replies: bufio.NewReader(out)}, nil
}

func (p *peer) do(r request) (reply, error) {
	if err := p.ask.Encode(r); err != nil {
		return reply{}, fmt.Errorf("asking %s: %w", p.engine, err)
	}
	line, err := p.replies.ReadBytes('\n')
	if err != nil {
		return reply{}, fmt.Errorf("%s gave up (is it installed? see bench/peers/README.md): %w", p.engine, err)
	}
	var answer reply
	if err := json.Unmarshal(line, &answer); err != nil {
		return reply{}, fmt.Errorf("%s: %w", p.engine, err)
	}
	if answer.Error != "" {
		return reply{}, fmt.Errorf("%s: %w", p.engine, errors.New(answer.Error))
	}
	return answer, nil
}

// requestOf is how an engine is asked a question.
func requestOf(engine string, q question) request {
	r := request{Run: q.sql(engine), By: q.by, Aggs: q.aggs, List: q.columns("gagg")}
	if c := q.real; c != nil && engine == "gagg" {
		r.By, r.List = c.keys, strings.Join(c.aggs, ", ")
		r.more = more{c.where, c.having, c.order, c.limit, c.offset}
	}
	return r
}

// run answers a question.
func (p *peer) run(q question) (spent, error) {
	answer, err := p.do(requestOf(p.engine, q))
	return spent{seconds: answer.Seconds, cpu: answer.CPU}, err
}

// writeAnswer writes the answer to the last question, or to a real one that has
// been settled since.
func (p *peer) writeAnswer(q question, path string) error {
	if q.real != nil {
		if _, err := p.run(q); err != nil {
			return err
		}
	}
	_, err := p.do(request{Write: path})
	return err
}

// stop ends the process.
func (p *peer) stop() {
	if p.close() != nil || p.process.Wait() != nil {
		fmt.Fprintf(os.Stderr, "peers: %s did not end well: %v\n", p.engine, p.process.ProcessState)
	}
}
