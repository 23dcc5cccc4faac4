package sink

import (
	"errors"
	"io/fs"
	"os"
)

// fileSystem is the calls by which a result file comes to be. A test puts
// its own in place, and makes any of them fail.
type fileSystem interface {
	// OpenFile opens a file or a folder; a folder is opened to be synced.
	OpenFile(name string, flag int, perm fs.FileMode) (handle, error)
	Mkdir(name string, perm fs.FileMode) error
	Rename(oldName, newName string) error
	Remove(name string) error
	RemoveAll(name string) error
	// Lstat and Names are for sweeping.
	Lstat(name string) (fs.FileInfo, error)
	Names(dir string) ([]string, error)
}

// handle is the methods of an open file that are needed.
type handle interface {
	Write(p []byte) (int, error)
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
	// Lock takes the lock of the file, which outlives Close and ends with
	// unlock or the process. unlock is nil if another holds the lock. The
	// error is errors.ErrUnsupported where files have none.
	Lock() (unlock func(), err error)
}

// osFS is the real file system.
type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (handle, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not a nil *os.File in a non-nil interface
	}
	return osHandle{f}, nil
}

func (osFS) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }

func (osFS) Rename(oldName, newName string) error   { return os.Rename(oldName, newName) }
func (osFS) Remove(name string) error               { return os.Remove(name) }
func (osFS) RemoveAll(name string) error            { return os.RemoveAll(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

func (osFS) Names(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

type osHandle struct{ *os.File }
