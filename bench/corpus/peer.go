package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// peer is a Node process that answers one JSON object a line with another: bench/peers/peer.mjs or
// bench/fuzz/writers.mjs.
type peer struct {
	process *exec.Cmd
	in      io.Closer
	ask     *json.Encoder
	reply   *bufio.Reader
}

func startPeer(ctx context.Context, script string, args ...string) (*peer, error) {
	p := &peer{process: exec.CommandContext(ctx, "node", append([]string{script}, args...)...)}
	p.process.Env = append(os.Environ(), "POLARS_MAX_THREADS=1")
	p.process.Stderr = os.Stderr
	in, err := p.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.ask, p.reply = in, json.NewEncoder(in), bufio.NewReader(out)
	return p, p.process.Start()
}

func (p *peer) close() { _ = errors.Join(p.in.Close(), p.process.Wait()) }

// refusal is what an engine says of what it does not do.
type refusal struct{ text string }

func (r refusal) Error() string { return r.text }

type replied struct {
	Error   string
	Version string
	Rows    [][]*string
}

func (p *peer) request(r map[string]any) (replied, error) {
	var reply replied
	if err := p.ask.Encode(r); err != nil {
		return reply, err
	}
	line, err := p.reply.ReadBytes('\n')
	if err != nil {
		return reply, fmt.Errorf("%v gave up at %v: %w", p.process.Args, r, err)
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return reply, fmt.Errorf("%s: %w", line, err)
	}
	if reply.Error != "" {
		return reply, refusal{reply.Error}
	}
	return reply, nil
}

// query runs a statement of DuckDB's whose columns are all texts.
func (p *peer) query(sql string) ([][]*string, error) {
	reply, err := p.request(map[string]any{"query": sql})
	if err != nil {
		return nil, fmt.Errorf("%.200s: %w", sql, err)
	}
	return reply.Rows, nil
}
