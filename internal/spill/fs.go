package spill

import (
	"io"
	"io/fs"
	"os"
	"strings"
)

// FS is the calls by which spill files come to be, so that a test can make
// any of them fail (package spilltest). The zero Config uses the system's.
type FS interface {
	// OpenDir opens an existing folder that is safe to put private files in,
	// or says with a *FolderError why it is not.
	OpenDir(name string) (Dir, error)
}

// Dir is an open folder. Names are single elements, relative to the folder
// as it was opened: it may be moved or replaced by another meanwhile.
type Dir interface {
	// Names returns the names of the entries that begin with prefix.
	Names(prefix string) ([]string, error)
	Lstat(name string) (fs.FileInfo, error)
	// Mkdir makes a folder of mode 0700, whatever the umask.
	Mkdir(name string) error
	// OpenDir opens a folder of the caller's own, never through a link.
	OpenDir(name string) (Dir, error)
	// Create makes a file of mode 0600, which must not exist, and opens it.
	Create(name string) (Handle, error)
	// OpenOrCreate is Create, but of a file that may exist.
	OpenOrCreate(name string) (Handle, error)
	// Remove removes a file or an empty folder.
	Remove(name string) error
	Close() error
}

// Handle is an open file. Its methods may overlap, Close too.
type Handle interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	// Lock takes the file's lock, which ends when the file is closed or the
	// process dies, and reports whether it could. The error is
	// errors.ErrUnsupported where nobody can lock files.
	Lock() (bool, error)
	// Prefetch says that n bytes at off are needed soon.
	Prefetch(off, n int64)
	// Punch gives the blocks of the disk that lie within n bytes at off back.
	Punch(off, n int64) error
}

// System returns the real file system.
func System() FS { return osFS{} }

type osFS struct{}

func (osFS) OpenDir(name string) (Dir, error) {
	root, err := openFolder(name)
	if err != nil {
		return nil, err
	}
	return osDir{root}, nil
}

type osDir struct{ root *os.Root }

func (d osDir) Names(prefix string) ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // was only read
	var names []string
	for {
		some, err := f.Readdirnames(1024) // a shared folder may have very many
		for _, name := range some {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (d osDir) Lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }
func (d osDir) Remove(name string) error               { return d.root.Remove(name) }
func (d osDir) Close() error                           { return d.root.Close() }

func (d osDir) Mkdir(name string) error {
	if err := d.root.Mkdir(name, 0o700); err != nil {
		return err
	}
	if info, err := d.root.Lstat(name); err == nil && info.Mode().Perm() != 0o700 {
		// The umask took bits away. Where modes cannot be changed, opening
		// the folder says what that means.
		_ = d.root.Chmod(name, 0o700)
	}
	return nil // also if the folder is gone: opening it says so, too
}

// OpenDir compares before with after, since a Root follows a link that stays
// within it, and a link may take the folder's place between two calls.
func (d osDir) OpenDir(name string) (Dir, error) {
	before, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := root.Stat(".")
	if err == nil && (!os.SameFile(before, after) || !ownedByUs(after)) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return osDir{root}, nil
}

func (d osDir) Create(name string) (Handle, error) {
	return d.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

func (d osDir) OpenOrCreate(name string) (Handle, error) {
	return d.open(name, os.O_RDWR|os.O_CREATE)
}

// open never follows a link at the end of name: O_EXCL does not, and
// noFollow is for where there is none.
func (d osDir) open(name string, flag int) (Handle, error) {
	f, err := d.root.OpenFile(name, flag|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().Perm() != 0o600 {
		_ = f.Chmod(0o600) // as in Mkdir
	}
	return osHandle{f}, nil
}

type osHandle struct{ *os.File }
