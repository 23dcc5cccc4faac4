package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/sink"
)

// result is the output for the rows of the run.
type result struct {
	format  sink.Format
	options sink.Options
	out     *answerBuffer
	file    *sink.File // nil: out is stdout, or nothing, or there is a tree
	tree    *sink.Tree // nil: the result is not cut into files
	cut     sink.Partition
}

// createResult decides the format and creates the output.
func (c *command) createResult(ctx context.Context) (*result, error) {
	format, err := c.resultFormat()
	if err != nil {
		return nil, err
	}
	if err := c.checkFormat(format); err != nil {
		return nil, err
	}
	if err := c.checkOutputs(ctx, format); err != nil {
		return nil, err
	}
	r := &result{format: format, out: c.bufferStdout(), options: sink.Options{
		Null:        c.null,
		Compression: c.compressionOf(format),
		Width:       c.terminalWidth(),
		MaxRows:     c.terminalRows(),
		Bar:         c.bars,
		Stream:      true,
		CreatedBy:   "gagg " + version(),
	}}
	if c.output == "-" || format == sink.None {
		return r, nil
	}
	r.options.Stream = false
	if c.cuts() {
		return r, c.createTree(r)
	}
	if r.file, err = c.createFile(c.output); err != nil {
		return nil, err
	}
	c.answers(r.file)
	out, terminal := visibleFile(r.file)
	if terminal && c.isBinary(format) {
		return nil, usagef("%s is not text, and %s is a terminal: name a file", c.nameOf(format), c.output)
	}
	r.out, r.options.Stream = &answerBuffer{out: out, flowing: !r.file.IsStream(), before: c.stopProgress}, r.file.IsStream()
	return r, nil
}

// bufferStdout buffers the output to stdout. The bar is removed before anything is written,
// unless stdout is a file or a device: the reader of a pipe may write to the same terminal.
func (c *command) bufferStdout() *answerBuffer {
	b := &answerBuffer{out: c.out, before: c.stopProgress}
	if f, ok := c.stdout.(*os.File); ok && !isScreen(c.out) {
		if info, err := f.Stat(); err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeCharDevice != 0) {
			b.before = nil
		}
	}
	return b
}

// createFile begins to write path. Its error is one of the output.
func (c *command) createFile(path string) (*sink.File, error) {
	f, err := sink.Create(path)
	if err != nil {
		return nil, created(err)
	}
	c.created(f)
	return f, nil
}

// created returns the error for an output that cannot be made. A wrong path, such as one in a
// folder that does not exist, is a mistake in the flag. A refusal of the system (permission, room)
// is a failure.
func created(err error) error {
	for _, mistake := range []error{fs.ErrNotExist, syscall.ENOTDIR, sink.ErrIsFolder, sink.ErrNotEmpty, sink.ErrDanglingLink} {
		if errors.Is(err, mistake) {
			return usagef("%v", err)
		}
	}
	return output(err)
}

// isBinary reports whether an output is not text.
func (c *command) isBinary(f sink.Format) bool {
	return f == sink.Parquet || f == sink.Arrow || f.IsText() && !slices.Contains([]string{"", "none"}, c.compressionOf(f))
}

// compressionOf is the compression of an output: by --compression, or else, for text, by its
// name.
func (c *command) compressionOf(f sink.Format) string {
	named, _ := sink.CompressionForPath(c.output)
	if c.compression != "" || !f.IsText() {
		return c.compression
	}
	return named
}

// checkFormat refuses a format that the output cannot show, and flags that do not apply to the
// format.
func (c *command) checkFormat(f sink.Format) error {
	named, _ := sink.CompressionForPath(c.output)
	switch compression := c.compression; {
	case c.isBinary(f) && c.output == "-" && isScreen(c.out):
		return usagef("%s is not text, and stdout is a terminal: add -o FILE, or redirect stdout", c.nameOf(f))
	case c.typed["compression"] && (f == sink.Arrow || f == sink.None):
		return usagef("--compression is for Parquet and text, and this is %s: drop it, or take another format", f)
	case c.typed["compression"] && f.IsText() && !slices.Contains(sink.TextCompressions, compression):
		return usagef("--compression %s is for Parquet output, and this is %s: want one of %s", compression, f, strings.Join(sink.TextCompressions, ", "))
	case c.typed["compression"] && f.IsText() && named != "" && named != compression:
		return usagef("--compression %s: the name %s says %s; let them agree", compression, c.output, named)
	case c.typed["bar"] && f != sink.Table:
		return usagef("--bar is for tables, and this is %s: drop it, or add -f table", f)
	case c.typed["null"] && f != sink.CSV && f != sink.TSV:
		return usagef("--null is for CSV and TSV output, and this is %s: drop it, or add -f csv", f)
	}
	return nil
}

// nameOf is the format of the output, with its compression, for people.
func (c *command) nameOf(f sink.Format) string {
	if compression := c.compressionOf(f); f.IsText() && c.isBinary(f) {
		return string(f) + " compressed with " + compression
	}
	return string(f)
}

// resultFormat is the format that --format names, or that of the extension, or else a table for
// people and CSV for programs. An extension that stands for no format is refused: CSV under such
// a name would surprise whoever opens it. Pipes and devices may have any name.
func (c *command) resultFormat() (sink.Format, error) {
	if c.partial && c.format == "" {
		return sink.Arrow, c.checkStateName()
	}
	if c.format != "" {
		f, err := sink.ParseFormat(c.format)
		if err != nil {
			return f, unknownFormat(c.format)
		}
		return f, nil
	}
	if c.output != "-" {
		if f, ok := sink.FormatForPath(c.output); ok {
			return f, nil
		}
		_, rest := sink.CompressionForPath(c.output)
		if ext := filepath.Ext(rest) + strings.TrimPrefix(c.output, rest); ext != "" && !isDevice(c.output) {
			return "", usagef("--output %s: gagg does not write %s files: take another extension, or say with -f which format to write under this name", c.output, ext)
		}
		if c.cuts() {
			return sink.Parquet, nil
		}
		return sink.CSV, nil
	}
	if c.onTerminal(c.stdout) {
		return sink.Table, nil
	}
	return sink.CSV, nil
}

// checkStateName refuses a name for states whose extension stands for another format. Any unknown
// extension is accepted.
func (c *command) checkStateName() error {
	f, ok := sink.FormatForPath(c.output)
	packed, rest := sink.CompressionForPath(c.output)
	switch {
	case c.output == "-" || isDevice(c.output):
	case packed != "":
		return usagef("--output %s: states are not compressed: take the name %s", c.output, rest)
	case ok && f != sink.Arrow:
		return usagef("--output %s: states are Arrow, and the name says %s: take another extension, such as .state, or say -f arrow", c.output, f)
	}
	return nil
}

// isDevice reports whether path exists and is no regular file.
func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// terminalWidth is how wide a table on stdout may be; 0: as wide as it is.
func (c *command) terminalWidth() int {
	if c.output != "-" || !c.onTerminal(c.stdout) {
		return 0
	}
	width, _, err := term.GetSize(int(c.stdout.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// mostShown is how many rows of a table a terminal is shown.
const mostShown = 10_000

// terminalRows is how many rows a table may show; 0: all, as of one that goes to a file or a pipe.
func (c *command) terminalRows() int {
	if c.output != "-" || !c.onTerminal(c.stdout) {
		return 0
	}
	return mostShown
}

// writeAll writes every row; commit makes the output final. The beginning of what goes to a pipe
// is buffered.
func (r *result) writeAll(ctx context.Context, rows *gagg.Rows) error {
	for _, by := range rows.Sorted() {
		r.options.Sorted = append(r.options.Sorted, sink.SortColumn(by))
	}
	err := sink.WriteAll(ctx, rows, r.writer)
	if columns := new(sink.ColumnError); errors.As(err, &columns) {
		return usagef("%v", columns)
	}
	if failed := new(sink.WriteError); errors.As(err, &failed) {
		return output(failed.Err)
	}
	return err
}

// commit makes the answer final: it writes the buffer, or makes the file appear.
func (r *result) commit() error {
	if err := r.out.flush(); err != nil {
		return output(err)
	}
	switch {
	case r.tree != nil:
		return output(r.tree.Commit())
	case r.file != nil:
		return output(r.file.Commit())
	}
	return nil
}

// isStream reports whether the answer cannot be taken back.
func (r *result) isStream() bool { return r.tree == nil && (r.file == nil || r.file.IsStream()) }

func (r *result) form() outputForm {
	return outputForm{r.format, r.options.Compression, r.isStream()}
}

// abort removes an output that is not final.
func (r *result) abort() {
	if r.file != nil {
		r.file.Abort()
	}
	if r.tree != nil {
		r.tree.Abort()
	}
}
