package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Error is a failure to make an output. Its message is one line. The cause
// stays visible to errors.Is: syscall.ENOSPC, syscall.EPIPE,
// fs.ErrPermission.
type Error struct {
	Path string // the output as the user named it
	Op   string // what was being done: create, write, sync, rename
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("cannot %s %s: %v%s", e.Op, e.Path, bare(e.Err), advice(e.Err))
}

func (e *Error) Unwrap() error { return e.Err }

// bare takes off the wrapping of package os, which names the hidden file and
// the system call; the user knows neither.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// advice says what to do about the common causes.
func advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "; make room or choose another place"
	case errors.Is(err, fs.ErrNotExist):
		return "; make the folder first"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "; choose a place that you may write to"
	}
	return ""
}

// ColumnError says that a column does not fit what the options ask of it. It is a mistake in the
// command line.
type ColumnError struct{ text string }

func (e *ColumnError) Error() string { return e.text }

func columnErrorf(format string, args ...any) error {
	return &ColumnError{fmt.Sprintf(format, args...)}
}

// Reasons why a path cannot be an output.
var (
	ErrIsFolder     = errors.New("it is a folder; name a file in it")
	ErrDanglingLink = errors.New("it is a symbolic link to nothing; remove the link or make its target")
)
