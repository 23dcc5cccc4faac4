package main

import (
	"io"
	"os"
	"slices"

	"github.com/gagg-dev/gagg"
)

// source returns the inputs that the arguments name.
func (c *command) source() (gagg.Source, error) {
	from, err := c.inputSource()
	if err == nil && c.merge {
		from = gagg.Merge(from)
	}
	return from, err
}

func (c *command) inputSource() (gagg.Source, error) {
	if err := c.checkOwnPipes(); err != nil {
		return nil, err
	}
	if !slices.Contains(c.inputs, "-") {
		return gagg.Files(c.inputs...), nil
	}
	if len(c.inputs) > 1 {
		return nil, usagef("- (stdin) cannot be read together with other inputs: name it alone, or as /dev/stdin")
	}
	return gagg.Stream("stdin", c.stdin), nil
}

// checkOwnPipes refuses an input that is a pipe to which this process itself writes: reading it
// would never end.
func (c *command) checkOwnPipes() error {
	for _, own := range []struct {
		w    io.Writer
		name string
	}{{c.stdout, "stdout"}, {c.stderr, "stderr"}} {
		pipe := pipeInfo(own.w)
		if pipe == nil {
			continue
		}
		for _, input := range c.inputs {
			info, _ := os.Stat(input) // an error is reported when the input is opened
			if input == "-" {
				info = pipeInfo(c.stdin)
			}
			if info != nil && os.SameFile(info, pipe) {
				return usagef("the input %s is the pipe that %s goes to, whose end would never come: name another input", input, own.name)
			}
		}
	}
	return nil
}

// pipeInfo identifies the pipe f; nil: it is no pipe.
func pipeInfo(f any) os.FileInfo {
	file, ok := f.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return nil
	}
	return info
}
