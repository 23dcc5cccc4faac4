package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// runner runs gagg, a process for each run.
type runner struct {
	gagg     string
	emulator string // the emulator's library; "": none
	folder   string // for answers and temporary files
	duck     *duck
	limit    time.Duration // a run takes less
}

// outcome is what became of a run.
type outcome struct {
	args   []string
	status int // -1: it took too long
	stderr string
	out    []byte // the answer as it is in the file, or came through the pipe; not of Parquet
	path   string // of Parquet
	stats  stats
}

// stats is what --stats says of interest here.
type stats struct {
	Device       string
	SpilledBytes int64 `json:"spilled_bytes"`
	Devices      []struct {
		Evictions, Buckets int64
		FullBuckets        int64 `json:"full_buckets"`
	}
	Fallbacks []struct{ What, Why string }
}

// run runs a query; an error is one of the fuzzer, not of gagg.
func (r *runner) run(ctx context.Context, q *query, c config) (outcome, error) {
	args := append(q.args(), c.args(q.table)...)
	if c.least {
		limit, err := r.least(ctx, args, q.table, c)
		if err != nil {
			return outcome{}, err
		}
		args = append([]string{"--memory-limit", limit, "--temp-dir", r.folder}, args...)
	}
	args = append(args, "-f", c.format)
	path, statsPath := filepath.Join(r.folder, "answer"), filepath.Join(r.folder, "stats")
	_ = os.Remove(path) // there is none before the first run
	o := outcome{path: path}
	if !c.pipe && c.format != "none" {
		args = append(args, "-o", path)
	}
	o.args = args
	err := r.start(ctx, append(args, "--stats="+statsPath), q.table, c, &o)
	if memory := slices.Index(args, "--gpu-memory") + 1; memory > 0 && err == nil && strings.Contains(o.stderr, tooSmall) {
		for size := 1; o.status == 5 && size <= 64 && err == nil; size *= 2 {
			args[memory] = fmt.Sprintf("%dMiB", size)
			err = r.start(ctx, append(args, "--stats="+statsPath), q.table, c, &o)
		}
	}
	if err != nil || o.status != 0 {
		return o, err
	}
	told, err := os.ReadFile(statsPath)
	if err == nil {
		err = json.Unmarshal(told, &o.stats)
	}
	if err == nil && !c.pipe && c.format != "none" && c.format != "parquet" {
		o.out, err = os.ReadFile(path)
	}
	return o, err
}

// tooSmall is in the message of a device with too little memory for the rows of a query. How much
// is too little depends on the rows.
const tooSmall = "GPU memory limit too small"

var needs = regexp.MustCompile(`needs at least ([0-9.]+) ?([KMG]iB)`)

// least is the memory limit that gagg says a run needs. Under a limit too small for the footers
// it names none.
func (r *runner) least(ctx context.Context, args []string, t *table, c config) (string, error) {
	limit := "1MiB"
	for _, larger := range []string{"40MiB", "80MiB", "200MiB", "1GiB"} {
		var o outcome
		if err := r.start(ctx, append([]string{"--memory-limit", limit, "--temp-dir", r.folder, "-f", c.format}, args...), t, c, &o); err != nil {
			return "", err
		}
		if m := needs.FindStringSubmatch(o.stderr); m != nil {
			return m[1] + m[2], nil
		}
		if o.status != 5 {
			return limit, nil // what is wrong shows in the run itself
		}
		limit = larger
	}
	return limit, nil
}

func (r *runner) start(ctx context.Context, args []string, t *table, c config, o *outcome) error {
	limited, stop := context.WithTimeout(ctx, r.limit)
	defer stop()
	cmd := exec.CommandContext(limited, r.gagg, args...)
	cmd.Env = append(os.Environ(), "GAGG_CUDA_LIBRARY="+r.emulator, "GAGG_EMU_DEVICES=2")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.stdin {
		in, err := os.Open(t.files[0])
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		cmd.Stdin = in
	}
	err := cmd.Run()
	o.status = 0
	o.out, o.stderr = stdout.Bytes(), strings.TrimSpace(stderr.String())
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		o.status = -1
	case errors.As(err, &exit):
		o.status = exit.ExitCode()
	case err != nil:
		return err
	}
	return nil
}

// command is the run as a line for a shell.
func (r *runner) command(o outcome, t *table, c config) string {
	line := shell(append([]string{r.gagg}, o.args...))
	if c.device {
		line = "GAGG_EMU_DEVICES=2 GAGG_CUDA_LIBRARY=" + r.emulator + " " + line
	}
	if c.stdin {
		line += " < " + shell(t.files[:1])
	}
	return line
}
