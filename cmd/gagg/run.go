package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"golang.org/x/term"

	"github.com/gagg-dev/gagg"
)

// command is one run of the program: what was asked, and where it speaks.
type command struct {
	settings
	env            []string
	stdin          io.Reader
	stdout, stderr io.Writer
	bar            *bar // nil: no progress is shown
}

// run does what args and env ask and returns the exit status. It leaves
// nothing behind but what was asked for, and never ends the process.
func run(ctx context.Context, args, env []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	defer func() {
		if r := recover(); r != nil {
			status = statusFailed
			fmt.Fprintf(stderr, "gagg: internal error: %s; this is a bug in gagg, GAGG_DEBUG=1 shows where\n", oneLine(fmt.Sprint(r)))
			if slices.Contains(env, "GAGG_DEBUG=1") {
				_, _ = stderr.Write(debug.Stack())
			}
		}
	}()
	s, flags, err := parseSettings(args, env)
	if err != nil {
		return fail(ctx, stderr, err)
	}
	c := &command{settings: *s, env: env, stdin: stdin, stdout: stdout, stderr: stderr}
	switch {
	case c.help:
		err = output(writeHelp(stdout, flags))
	case c.version:
		err = output(writeVersion(stdout))
	case c.completion != "":
		err = output(writeCompletion(stdout, c.completion, flags))
	case c.schema:
		err = c.describe(ctx)
	case c.explain != "":
		err = c.explainPlan(ctx)
	default:
		err = c.aggregate(ctx)
	}
	return fail(ctx, stderr, err)
}

// output marks a failure to write as one of the output.
func output(err error) error {
	if err == nil {
		return nil
	}
	return &outputError{err: err}
}

// aggregate runs the query and writes its result. The output and the file
// for statistics are created first: a folder that cannot be written to is
// found before hours of work, not after them.
func (c *command) aggregate(ctx context.Context) error {
	result, err := c.createResult()
	if err != nil {
		return err
	}
	defer result.abort()
	stats, err := c.createStats()
	if err != nil {
		return err
	}
	defer stats.abort()

	q, o, err := c.ask(ctx)
	if err != nil {
		return err
	}
	share := shareOf(o.MemoryLimit, result.format, result.isStream())
	o.MemoryLimit = share.Query
	result.options.Memory = share.Sink
	defer share.limitRuntime()()
	o.Observer = c.startProgress()
	defer c.stopProgress()
	rows, err := gagg.Run(ctx, q, o)
	if err != nil {
		return share.needError(err, result.format, result.isStream())
	}
	defer rows.Release()
	if err := result.writeAll(ctx, rows, c.bar); err != nil {
		return err
	}
	c.stopProgress()
	return stats.write(runStats{rows.Stats(), peakResident(os.DirFS("/"))})
}

// ask is the query and the options for the library. Their memory limit is
// that of the process.
func (c *command) ask(ctx context.Context) (gagg.Query, gagg.Options, error) {
	o, err := c.libraryOptions(c.stderr)
	if err != nil {
		return gagg.Query{}, o, err
	}
	from, err := c.source(ctx)
	return c.query(from), o, err
}

// startProgress shows the bar if it is wanted. With --verbose the log tells
// how far the run is, and a bar would only break its lines.
func (c *command) startProgress() gagg.Observer {
	switch {
	case c.progress == "always":
	case c.progress == "never" || c.quiet || c.verbose || !c.onTerminal(c.stderr):
		return nil
	}
	c.bar = startBar(c.stderr)
	return c.bar
}

func (c *command) stopProgress() {
	c.bar.finish()
	c.bar = nil
}

// onTerminal reports whether w is a terminal that understands more than
// plain text.
func (c *command) onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && !slices.Contains(c.env, "TERM=dumb")
}
