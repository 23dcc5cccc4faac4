package sink

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// File is an output that appears whole or not at all.
//
//	Create            Write …          Commit
//	.out.gagg-6f3a…   (grows)          sync, mode, close, rename to out, sync folder
//	mode 0600                          the mode out had, or what the umask gives
//
// Until the rename nothing at the output's own name has changed; a failure
// anywhere leaves the old file and removes the hidden file. Only
// when the very last step, the sync of the folder, fails is the new output
// already in place, and Commit says so with an error all the same: it might
// not survive a power cut.
//
// Hard links to an old output keep the old content. Pipes, terminals and
// devices have no hidden file: they get the bytes as they come.
//
// A process that is killed leaves its hidden file. The next process that
// writes the same output removes it: see sweep.
//
// google/renameio does the same in fewer lines, but leaves out the sync of
// the folder, keeps no hidden mode, writes over the file behind a read-only
// name, and gives a test no way to make its calls fail.
type File struct {
	fsys   fileSystem
	path   string // as the user named it
	target string // where it goes in the end, links followed
	hidden string // the file that grows; empty for a stream
	mode   fs.FileMode
	out    handle
	unlock func() // of the hidden file, once it has its name or is gone
	err    error  // of the first failure, which is final
	state  atomic.Int32
}

// Create opens the output at path, so that a folder that is missing or may
// not be written is found before any input is read. The caller ends with
// Commit or Abort. The error is an *Error.
func Create(path string) (*File, error) { return create(osFS{}, path) }

func create(fsys fileSystem, path string) (*File, error) {
	f := &File{fsys: fsys, path: path, unlock: func() {}}
	t, err := resolve(path)
	if err == nil && t.stream {
		f.out, err = openStream(fsys, path)
	} else if err == nil {
		f.target = t.path
		err = f.createHidden(t)
	}
	if err != nil {
		return nil, &Error{Path: path, Op: "create", Err: err}
	}
	return f, nil
}

// createHidden makes the hidden file beside the target and settles the mode
// of the finished file. What the umask gives can only be learned by making a
// file with it: reading the umask means setting it, which other threads
// would feel. The file is empty while it has that mode.
func (f *File) createHidden(t target) error {
	if t.exists {
		if err := f.probeWritable(); err != nil {
			return err
		}
	}
	perm := fs.FileMode(0o666)
	if t.exists {
		perm = 0o600
	}
	sweep(f.fsys, f.target)
	out, err := f.openHidden(perm)
	if err != nil {
		return err
	}
	f.out, f.mode = out, t.mode
	if !t.exists {
		info, statErr := out.Stat()
		if err = statErr; err == nil {
			f.mode = info.Mode().Perm()
			err = out.Chmod(0o600)
		}
	}
	if err != nil {
		f.Abort()
	}
	return err
}

// probeWritable refuses to replace a file that may not be written, although
// a rename could.
func (f *File) probeWritable() error {
	h, err := f.fsys.OpenFile(f.target, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return h.Close()
}

// maxBase keeps the hidden name below the 255 bytes that file systems allow.
const maxBase = 200

func hiddenName(target string) string {
	var random [8]byte
	rand.Read(random[:]) // never fails: see its doc
	dir, base := filepath.Split(target)
	return filepath.Join(dir, hiddenPrefix(base)+hex.EncodeToString(random[:]))
}

func hiddenPrefix(base string) string { return "." + base[:min(len(base), maxBase)] + ".gagg-" }

// Write appends p. After a failure every later call fails with its error.
func (f *File) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.out.Write(p)
	if err != nil {
		f.err = &Error{Path: f.path, Op: "write", Err: err}
	}
	return n, f.err
}

// Commit makes the output appear at its name. After a failed Write, or a
// failure of its own, it aborts and returns the error. A second call returns
// what the first did.
func (f *File) Commit() error {
	if f.state.Load() == ended {
		return f.err
	}
	if f.hidden == "" {
		f.state.Store(ended)
		f.step("close", f.out.Close)
		return f.err
	}
	f.step("sync", f.out.Sync)
	f.step("set the mode of", func() error { return f.out.Chmod(f.mode) })
	if f.err != nil {
		f.Abort()
		return f.err
	}
	if !f.enter(ended) {
		return &Error{Path: f.path, Op: "finish", Err: errGivenUp}
	}
	defer f.unlock()
	f.step("close", f.out.Close)
	f.step("rename to", func() error { return f.fsys.Rename(f.hidden, f.target) })
	if f.err != nil {
		_ = f.fsys.Remove(f.hidden) // the error that matters is kept already
		return f.err
	}
	f.step("sync the folder of", func() error { return syncFolder(f.fsys, filepath.Dir(f.target)) })
	return f.err
}

// step does one step unless an earlier one failed.
func (f *File) step(op string, do func() error) {
	if f.err != nil {
		return
	}
	if err := do(); err != nil {
		f.err = &Error{Path: f.path, Op: op, Err: err}
	}
}

// syncFolder makes names in a folder survive a power cut, as far as the system
// lets us: a folder may be writable but not readable, and some file systems
// do not sync folders.
func syncFolder(fsys fileSystem, name string) error {
	dir, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}

// The states of a File, and of a Tree. It leaves the first one once.
const (
	growing int32 = iota
	ended         // by Commit or Abort
	givenUp       // by another goroutine; what is still written is lost
)

// enter ends the output, unless that was done.
func (f *File) enter(state int32) bool { return f.state.CompareAndSwap(growing, state) }

var errGivenUp = errors.New("given up")

// GiveUp is Abort for a goroutine other than the one that writes, which may
// be writing still. It reports whether the output is as it was: false if it
// is about to appear, or has.
func (f *File) GiveUp() bool {
	if !f.enter(givenUp) {
		return false
	}
	if f.hidden != "" {
		_ = f.fsys.Remove(f.hidden) // the caller has its error already
	}
	return true
}

// Abort gives the output up: the hidden file is removed, and the old file
// stays. After Commit or Abort it does nothing, so it may be deferred.
func (f *File) Abort() {
	if !f.enter(ended) {
		return
	}
	_ = f.out.Close() // the content is given up: no error of it matters
	if f.hidden != "" {
		_ = f.fsys.Remove(f.hidden) // the caller has its error already
	}
	f.unlock()
	if f.err == nil {
		f.err = &Error{Path: f.path, Op: "finish", Err: errGivenUp}
	}
}

// Fd is the file descriptor of the output, for asking of what kind it is; false
// if there is none. The hidden file of a regular output has one too.
func (f *File) Fd() (fd uintptr, ok bool) {
	described, ok := f.out.(interface{ Fd() uintptr })
	if !ok {
		return 0, false
	}
	return described.Fd(), true
}

// IsStream reports whether the output is a pipe, a terminal or a device,
// which gets its bytes at once and cannot be taken back.
func (f *File) IsStream() bool { return f.hidden == "" }
