package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/bmatcuk/doublestar/v4"

	"github.com/gagg-dev/gagg"
)

// inputError is an input that the command itself cannot use.
type inputError struct {
	err error
}

func (e *inputError) Error() string        { return e.err.Error() }
func (e *inputError) Unwrap() error        { return e.err }
func (e *inputError) Is(target error) bool { return target == gagg.ErrInput }

// source is what the arguments name.
func (c *command) source() (gagg.Source, error) {
	if !slices.Contains(c.inputs, "-") {
		return gagg.Files(c.inputs...), nil
	}
	if len(c.inputs) > 1 {
		return nil, usagef("- (stdin) cannot be read together with other inputs: name it alone")
	}
	return stdinSource(c.stdin)
}

// stdinSource reads stdin as what it is: a Parquet file if it is a file
// (Parquet is read from its end, so it must be seekable), an Arrow IPC stream
// otherwise.
func stdinSource(stdin io.Reader) (gagg.Source, error) {
	if f, ok := stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			magic := make([]byte, len(parquetMagic))
			if n, _ := f.ReadAt(magic, 0); n == len(magic) && string(magic) == parquetMagic {
				return gagg.Parquet("stdin", f, info.Size()), nil
			}
		}
	}
	buffered := bufio.NewReader(stdin)
	if start, _ := buffered.Peek(len(parquetMagic)); bytes.Equal(start, []byte(parquetMagic)) {
		return nil, &inputError{errors.New("stdin: a Parquet file cannot be read from a pipe: use < file.parquet, or send an Arrow IPC stream")}
	}
	records, err := ipc.NewReader(buffered)
	if err != nil {
		return nil, &inputError{fmt.Errorf("stdin: neither a Parquet file nor an Arrow IPC stream: %w", err)}
	}
	return gagg.Records(records), nil
}

const parquetMagic = "PAR1"

// checkNotInput refuses an output that is one of the inputs, or that the same
// command would read the next time. Files are compared by device and inode:
// hard links, symlinks and file systems that ignore case make different names
// of one file.
func checkNotInput(path string, inputs []string) error {
	existing, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // creating it will say what is wrong
	}
	for _, input := range inputs {
		info, err := os.Stat(input)
		switch {
		case err != nil:
			err = checkNotMatched(path, existing, input)
		case info.IsDir():
			err = checkNotBelow(path, info, input)
		case os.SameFile(info, existing):
			err = usagef("--output %s is the input %s: name another file", path, input)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkNotBelow refuses a path inside a folder that is an input.
func checkNotBelow(path string, folder fs.FileInfo, input string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	for dir := filepath.Dir(absolute); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, folder) {
			return usagef("--output %s lies inside the input folder %s: name a file outside it", path, input)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// checkNotMatched refuses a path that a glob finds, now or once it exists.
func checkNotMatched(path string, existing fs.FileInfo, pattern string) error {
	if !strings.ContainsAny(pattern, "*?[{") {
		return nil
	}
	absolutePath, err1 := filepath.Abs(path)
	absolutePattern, err2 := filepath.Abs(pattern)
	if err1 != nil || err2 != nil {
		return nil
	}
	if matched, err := doublestar.PathMatch(absolutePattern, absolutePath); err == nil && matched {
		return usagef("--output %s is matched by the input %s: name a file that it does not match", path, pattern)
	}
	if existing == nil {
		return nil
	}
	found, err := doublestar.FilepathGlob(pattern)
	if err != nil {
		return nil // the library names what is wrong with the pattern
	}
	for _, name := range found {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, existing) {
			return usagef("--output %s is the input %s: name another file", path, name)
		}
	}
	return nil
}
