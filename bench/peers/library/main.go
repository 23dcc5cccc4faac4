// Command library is gagg's Go library in a process that stays: it answers
// requests as bench/peers/peer.mjs does (see there), so that its second query
// finds the device open.
//
//	library FILE THREADS DEVICE MEMORY
//
// FILE may be a glob. DEVICE is cpu; auto, which chooses between the CPU and the first GPU, which
// is open; or what gagg.OpenGPUs takes. It may be followed by --gpu-memory SIZE, as one argument.
// MEMORY is a limit such as 80GiB, or empty. A result is made and dropped, as by gagg -f none; to
// write one, the last query runs again.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
}

// request and reply are the fields of peer.mjs's that concern a library.
type request struct {
	Run   string   `json:"run"`
	By    []string `json:"by"`
	List  string   `json:"list"` // the aggregates as gagg -a takes them
	Write string   `json:"write"`

	// The rest of a query, as gagg's flags take it.
	Where  string `json:"where"`
	Having string `json:"having"`
	Order  string `json:"order"`
	Limit  int64  `json:"limit"`
	Offset int64  `json:"offset"`
}

// query is what is to be run.
func (r *request) query(files []string) gagg.Query {
	q := gagg.Query{From: gagg.Files(files...), By: r.By, Where: r.Where, Having: r.Having, Limit: r.Limit, Offset: r.Offset}
	if r.List != "" {
		q.Aggs = []gagg.Agg{gagg.Expr(r.List)}
	}
	if r.Order != "" {
		q.OrderBy = []string{r.Order}
	}
	return q
}

type reply struct {
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds"`
	Version string  `json:"version,omitempty"`
	Peak    int64   `json:"peak,omitempty"`
}

func run(args []string) (err error) {
	if len(args) != 4 {
		return errors.New("usage: library FILE THREADS DEVICE MEMORY")
	}
	threads, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	files, err := filepath.Glob(args[0])
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no file is %s: %w", args[0], err)
	}
	device, rest, _ := strings.Cut(args[2], " ")
	p := program{files: files, options: gagg.Options{Threads: threads, Device: device}}
	deviceMemory, _ := strings.CutPrefix(rest, "--gpu-memory ")
	if err := errors.Join(setSize(&p.options.MemoryLimit, args[3]), setSize(&p.options.GPUMemory, deviceMemory)); err != nil {
		return err
	}
	if device != "cpu" {
		open := device
		if device == "auto" {
			open = "gpu"
		}
		if p.options.GPUs, err = gagg.OpenGPUs(context.Background(), open); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.options.GPUs.Close()) }()
	}
	requests, replies := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for requests.More() {
		var r request
		if err := requests.Decode(&r); err != nil {
			return err
		}
		answer, err := p.do(r)
		if err != nil {
			answer = reply{Error: err.Error()}
		}
		if err := replies.Encode(answer); err != nil {
			return err
		}
	}
	return nil
}

// setSize reads a size such as 4GiB; an empty one changes nothing.
func setSize(size *int64, text string) error {
	if text == "" {
		return nil
	}
	n, err := humanize.ParseBytes(text)
	if err == nil {
		*size = int64(n)
	}
	return err
}

// program is what the process keeps between requests.
type program struct {
	files   []string
	options gagg.Options
	last    gagg.Query
}

func (p *program) do(r request) (reply, error) {
	ctx := context.Background()
	switch {
	case r.Run != "":
		p.last = r.query(p.files)
		start := time.Now()
		err := p.rows(ctx, drop)
		return reply{Seconds: time.Since(start).Seconds()}, err
	case r.Write != "":
		return reply{}, p.write(ctx, r.Write)
	}
	peak, err := peakBytes()
	return reply{Version: runtime.Version(), Peak: peak}, err
}

// rows runs the last query and has its rows used.
func (p *program) rows(ctx context.Context, use func(*gagg.Rows) error) error {
	rows, err := gagg.Run(ctx, p.last, p.options)
	if err != nil {
		return err
	}
	defer rows.Release()
	if err := use(rows); err != nil {
		return err
	}
	return rows.Err()
}

// drop makes every record and drops it.
func drop(rows *gagg.Rows) error {
	for rows.Next() {
		rows.Record()
	}
	return nil
}

func (p *program) write(ctx context.Context, path string) error {
	return p.rows(ctx, func(rows *gagg.Rows) error {
		return gagg.WriteFile(ctx, path, rows, gagg.Output{Format: gagg.FormatParquet})
	})
}

// peakBytes is the highest resident size of this process.
func peakBytes() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kilobytes * 1024, err
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}
