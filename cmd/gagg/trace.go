package main

import (
	"io"

	"github.com/gagg-dev/gagg/internal/sink"
)

// timeline is the output of --trace. Like the result, the file appears whole or not at all, but it
// appears also when the run fails: that is when a timeline is most useful. A run that ends before
// anything happened leaves no file.
type timeline struct {
	file  *sink.File // nil: not asked for
	begun bool       // something was written
}

func (c *command) createTrace() (*timeline, error) {
	if c.trace == "" {
		return &timeline{}, nil
	}
	f, err := c.createFile(c.trace)
	if err != nil {
		return nil, err
	}
	return &timeline{file: f}, nil
}

// writer is what the library writes to; nil: nothing.
func (t *timeline) writer() io.Writer {
	if t.file == nil {
		return nil
	}
	return t
}

func (t *timeline) Write(p []byte) (int, error) {
	t.begun = true
	return t.file.Write(p)
}

// finish makes the file final when the run has ended with err. It returns err, or else an error of
// the file. A second call does nothing.
func (t *timeline) finish(err error) error {
	f := t.file
	t.file = nil
	if f == nil {
		return err
	}
	if !t.begun {
		f.Abort()
		return err
	}
	failed := output(f.Commit())
	if err != nil {
		return err
	}
	return failed
}
