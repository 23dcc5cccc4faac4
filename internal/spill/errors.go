package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg/internal/budget"
)

// The kinds of errors, for errors.Is. One of no kind is a failure while
// running: an I/O error, a damaged block.
var (
	// the user named a folder that no file may be put in
	ErrUsage = errors.New("temp folder not usable")
	// limit (a budget.Error), disk, quota, permission or descriptors
	ErrExhausted error = budget.Disk
)

// FolderError is a folder that spill files must not or cannot be put in, by
// the user's mistake. It is an ErrUsage.
type FolderError struct {
	Dir string
	Why string
}

func (e *FolderError) Error() string {
	return fmt.Sprintf("temp folder %s: %s; give another --temp-dir", e.Dir, e.Why)
}

// Is makes it an ErrUsage.
func (e *FolderError) Is(target error) bool { return target == ErrUsage }

// FullError says that the file system or the quota is full. It is an
// ErrExhausted.
type FullError struct {
	Dir     string
	Spilled int64 // bytes on disk now, of the whole Space
	Err     error
}

func (e *FullError) Error() string {
	return fmt.Sprintf("temp folder %s: no space after %s spilled; free space, or give --temp-dir or more memory", e.Dir, iec(e.Spilled))
}

func (e *FullError) Unwrap() error { return e.Err }

// Is makes it an ErrExhausted.
func (e *FullError) Is(target error) bool { return target == ErrExhausted }

// DeniedError says that the system refuses a file or the private directory:
// no permission, a file system that is read-only, too many open files. It is
// an ErrExhausted.
type DeniedError struct {
	Dir    string
	Advice string
	Err    error
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("temp folder %s: %v; %s", e.Dir, bare(e.Err), e.Advice)
}

func (e *DeniedError) Unwrap() error { return e.Err }

// Is makes it an ErrExhausted.
func (e *DeniedError) Is(target error) bool { return target == ErrExhausted }

// DamagedError is a block that is not what was written. The data is lost:
// nothing reads it again in the hope of a better answer.
type DamagedError struct {
	Dir   string
	Block int64  // number of the block in its file; -1 if even that is not known
	What  string // what does not match
}

func (e *DamagedError) Error() string {
	block := "spill block"
	if e.Block >= 0 {
		block = fmt.Sprintf("spill block %d", e.Block)
	}
	return fmt.Sprintf("%s damaged (%s); check the disk of temp folder %s or give another --temp-dir", block, e.What, e.Dir)
}

// IOError is any other failure of the file system.
type IOError struct {
	Op  string // what was being done: create, write, read …
	Dir string
	Err error
}

func (e *IOError) Error() string {
	return fmt.Sprintf("cannot %s a spill file in temp folder %s: %v", e.Op, e.Dir, bare(e.Err))
}

func (e *IOError) Unwrap() error { return e.Err }

// ErrClosed is returned for what is done with a closed Space or File.
var ErrClosed = errors.New("spill: closed")

// isFull reports whether the disk or the quota is.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// failure gives an error of the file system its type, unless it has one.
func failure(err error, op, dir string, spilled int64) error {
	switch {
	case errors.Is(err, ErrUsage), errors.Is(err, ErrExhausted), errors.Is(err, ErrClosed):
		return err
	case errors.Is(err, fs.ErrClosed):
		return ErrClosed
	case isFull(err):
		return &FullError{Dir: dir, Spilled: spilled, Err: err}
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return &DeniedError{Dir: dir, Advice: "raise the limit of open files (ulimit -n) or use fewer threads", Err: err}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return &DeniedError{Dir: dir, Advice: "give a --temp-dir that you may write to", Err: err}
	}
	return &IOError{Op: op, Dir: dir, Err: err}
}

// bare takes off the wrapping of package os, which names a random directory
// and the system call; the user knows neither.
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

func iec(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
