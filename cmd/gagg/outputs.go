package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/sink"
)

// namedOutput is a place that the run writes to.
type namedOutput struct {
	flag, path string
	place      sink.Place
}

// checkOutputs refuses outputs that would destroy one another, or an input.
func (c *command) checkOutputs(ctx context.Context, format sink.Format) error {
	all := c.outputs(format)
	files, err := c.inputFiles(ctx, all)
	if err != nil {
		return err
	}
	for i, out := range all {
		if out.path != "-" {
			if err := sink.SameFile(out.path, files); err != nil {
				return usagef("%v", err)
			}
		}
		if err := c.checkNotInput(out, files); err != nil {
			return err
		}
		for _, other := range all[:i] {
			if out.place.Same(other.place) {
				return usagef("--%s %s is where --%s %s goes: give it a file of its own", out.flag, out.path, other.flag, other.path)
			}
		}
	}
	return nil
}

// outputs are all places to which the run writes, except stderr, which may be shared.
func (c *command) outputs(format sink.Format) []namedOutput {
	var all []namedOutput
	switch f, ok := c.stdout.(*os.File); {
	case format == sink.None:
	case c.output != "-":
		all = append(all, namedOutput{"output", c.output, sink.PlaceOf(c.output)})
	case ok:
		all = append(all, namedOutput{"output", c.output, sink.PlaceOfFile(f)})
	}
	if c.stats != "" && c.stats != statsToStderr {
		all = append(all, namedOutput{"stats", c.stats, sink.PlaceOf(c.stats)})
	}
	if c.trace != "" {
		all = append(all, namedOutput{"trace", c.trace, sink.PlaceOf(c.trace)})
	}
	return all
}

// checkNotInput refuses an output that is the file which is read as stdin, and a stdout that is
// appended to an input.
func (c *command) checkNotInput(out namedOutput, files []string) error {
	if !out.place.IsRegular() {
		return nil
	}
	if f, ok := c.stdin.(*os.File); ok && slices.Contains(c.inputs, "-") && out.place.Same(sink.PlaceOfFile(f)) {
		return usagef("the output %s is the input - (stdin); write it elsewhere", out.path)
	}
	for _, f := range files {
		if out.path == "-" && f != "-" && out.place.Same(sink.PlaceOf(f)) {
			return usagef("the output - (stdout) is the input %s; write it elsewhere", f)
		}
	}
	return nil
}

// inputFiles are all inputs as files and folders. The files of a glob matter if an output exists
// already: it may be one of them by another name. An output whose name matches a glob is refused,
// since the same command would read it the next time.
func (c *command) inputFiles(ctx context.Context, outputs []namedOutput) (files []string, err error) {
	for _, input := range c.inputs {
		if _, err := os.Lstat(input); err == nil || !strings.ContainsAny(input, "*?[{") {
			files = append(files, input)
			continue
		}
		there := false
		for _, out := range outputs {
			if out.path != "-" && matches(input, out.path) {
				return nil, usagef("the output %s is matched by the input %s; write it elsewhere", out.path, input)
			}
			there = there || out.place.IsRegular()
		}
		if there {
			found, _ := gagg.ListFiles(ctx, input) // an error is reported when the input is read
			files = append(files, found...)
		}
	}
	return files, nil
}

// matches reports whether a glob matches path, whether they are absolute or relative.
func matches(pattern, path string) bool {
	absolutePattern, err1 := filepath.Abs(pattern)
	absolutePath, err2 := filepath.Abs(path)
	if err1 != nil || err2 != nil {
		return false
	}
	matched, err := doublestar.PathMatch(absolutePattern, absolutePath)
	return matched && err == nil
}
