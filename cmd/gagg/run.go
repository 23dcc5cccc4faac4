package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// command is one run of the program: its settings, inputs and outputs.
type command struct {
	settings
	env            []string
	stdin          io.Reader
	stdout, stderr io.Writer // asked for what they are, and for the bar
	out, log       io.Writer // the same, fit for a terminal: all else goes there
	begun
}

// run does what args and env ask and returns the exit status. It leaves nothing behind except the
// results, and never ends the process. After ctx has ended it returns soon, while goroutines may
// still run.
func run(ctx context.Context, args, env []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	c := newCommand(env, stdin, stdout, stderr)
	err := invariant.Fenced(func() error {
		if len(args) > 0 && args[0] == completeWord {
			return output(c.complete(ctx, args[1:]))
		}
		s, flags, err := parseSettings(args, env)
		if err != nil {
			return err
		}
		c.settings = *s
		if err := c.checkNoCommand(); err != nil {
			return err
		}
		return c.do(ctx, flags)
	})
	stack, err := asBug(err)
	status = fail(ctx, c.log, err)
	if slices.Contains(env, "GAGG_DEBUG=1") {
		_, _ = c.log.Write(stack)
	}
	return status
}

// asBug reports a panic, also one of the library's goroutines, as a bug, and returns its stack.
func asBug(err error) (stack []byte, _ error) {
	var bug *invariant.PanicError
	if !errors.As(err, &bug) {
		return nil, err
	}
	return bug.Stack, fmt.Errorf("%w; this is a bug in gagg, GAGG_DEBUG=1 shows where", err)
}

func newCommand(env []string, stdin io.Reader, stdout, stderr io.Writer) *command {
	return &command{env: env, stdin: stdin, stdout: stdout, stderr: stderr, out: visible(stdout), log: visible(stderr)}
}

// do does what the settings ask for.
func (c *command) do(ctx context.Context, flags *pflag.FlagSet) error {
	switch {
	case len(c.topics) > 0:
		return writeTopics(c.out, flags, c.topics)
	case c.help:
		return output(writeHelp(c.out, flags))
	case c.manual:
		return output(writeManual(c.out, flags, buildDate()))
	case c.version:
		return output(writeVersion(c.out))
	case c.completion != "":
		return output(writeCompletion(c.out, c.completion))
	case c.typed["example"]:
		return c.writeExample()
	case c.devices != "":
		return c.untilStopped(ctx, c.describeDevices)
	case c.schema:
		return c.untilStopped(ctx, c.describe)
	case c.asksNothing():
		return c.untilStopped(ctx, c.overview)
	}
	for _, text := range unknownVariables(flags, c.env) {
		c.logger(c.log).Info(text)
	}
	for _, text := range c.numberKeys() {
		c.logger(c.log).Warn(text)
	}
	if c.explain != "" {
		return c.untilStopped(ctx, c.explainPlan)
	}
	return c.untilStopped(ctx, c.aggregate)
}

// output marks err as a failure of the output.
func output(err error) error {
	if err == nil {
		return nil
	}
	return &outputError{err: err}
}

// aggregate runs the query and writes its result. The output and the files
// beside it are created first: a folder that cannot be written to is found
// before hours of work, not after them.
//
// ANSWER-LAST: nothing that is asked for may fail once the answer is there. The
// files of --stats and --trace are final before the output appears and before
// the buffered answer goes into a pipe; only statistics on stderr follow it.
func (c *command) aggregate(ctx context.Context) (err error) {
	result, err := c.createResult(ctx)
	if err != nil {
		return err
	}
	defer result.abort()
	stats, err := c.createStats()
	if err != nil {
		return err
	}
	defer stats.abort()
	trace, err := c.createTrace()
	if err != nil {
		return err
	}
	// also of a run that fails; after release, until when it is written to
	defer func() { err = trace.finish(err) }()

	q, o, err := c.ask()
	if err != nil {
		return err
	}
	share := shareOf(o.MemoryLimit, result.form())
	o.MemoryLimit, o.Slack = share.Query, share.Slack
	result.options.Memory = share.Sink
	defer share.limitRuntime()()
	o.Trace = trace.writer()
	o.Observer = c.startProgress(writingOf(result.format, result.options.Compression))
	defer c.stopProgress()
	run := gagg.Run
	if c.summarize {
		run = gagg.Summarize
	}
	rows, err := run(ctx, q, o)
	if err != nil {
		return share.needError(err, result.form())
	}
	release := sync.OnceFunc(rows.Release)
	defer release()
	c.bar.wide(rows.Schema())
	if err := result.writeAll(ctx, rows); err != nil {
		return share.needError(err, result.form())
	}
	c.stopProgress()
	did := stats.collect(rows)
	release()
	if err := stats.writeFile(did); err != nil {
		return err
	}
	if err := trace.finish(nil); err != nil {
		return err
	}
	if err := result.commit(); err != nil { // ANSWER-LAST
		return err
	}
	return stats.writeStderr(did)
}

// ask returns the query and the options for the library. Their memory limit is that of the
// process.
func (c *command) ask() (gagg.Query, gagg.Options, error) {
	o, err := c.libraryOptions(beside{c.log, c})
	if err != nil {
		return gagg.Query{}, o, err
	}
	if o.Transport, err = c.transport(); err != nil {
		return gagg.Query{}, o, err
	}
	if o.Stores, err = c.stores(); err != nil {
		return gagg.Query{}, o, err
	}
	from, err := c.source()
	return c.query(from), o, err
}

// startProgress shows the bar if it is wanted. With --verbose the log shows the progress, and a
// bar would only break its lines. w is the cost of writing a value of the result.
func (c *command) startProgress(w writing) gagg.Observer {
	switch {
	case c.progress == "always":
	case c.progress == "never" || c.quiet || c.verbose || !c.onTerminal(c.stderr):
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	after := estimator{
		threads: float64(cmp.Or(c.threads, runtime.GOMAXPROCS(0))), ordered: len(c.order()) > 0,
		most: c.limit, write: w.value() * float64(countItems(c.by)+countItems(c.aggs)),
	}
	if after.most > 0 {
		after.keep = after.most + c.offset
	}
	v := c.view()
	if c.progress != "always" {
		v.delay = drawAfter
	}
	c.bar = startBar(c.stderr, v, after)
	c.bar.writing = w
	return c.bar
}

// view is what the bar is drawn on.
func (c *command) view() view {
	v := view{ascii: !speaksUTF8(c.env)}
	if c.onTerminal(c.stderr) {
		fd := int(c.stderr.(*os.File).Fd())
		v.front = func() bool { return inForeground(fd) }
		v.width = func() int {
			width, _, err := term.GetSize(fd)
			if err != nil || width == 0 { // a terminal that does not know
				return 80
			}
			return width
		}
	}
	return v
}

// speaksUTF8 reports whether the variables of the locale name no other encoding.
func speaksUTF8(env []string) bool {
	for _, name := range []string{"LC_ALL=", "LC_CTYPE=", "LANG="} {
		for _, e := range env {
			if value, ok := strings.CutPrefix(e, name); ok && value != "" {
				value = strings.ToLower(value)
				return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
			}
		}
	}
	return true
}

func (c *command) stopProgress() { c.bar.finish() }

// beside is w as a writer that removes the bar before each write.
type beside struct {
	w io.Writer
	c *command
}

func (b beside) Write(p []byte) (n int, err error) {
	b.c.bar.beside(func() { n, err = b.w.Write(p) })
	return n, err
}

// onTerminal reports whether w is a terminal that understands more than
// plain text.
func (c *command) onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && !slices.Contains(c.env, "TERM=dumb")
}
