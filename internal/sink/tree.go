package sink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// Tree is an output of many files in a folder, which appears whole or not at all.
//
//	CreateTree        Create, Write …           Commit
//	.out.gagg-6f3a…/  k=1/part-00000.parquet    sync, mode, rename to out, sync the folder above
//	mode 0700         (each file is synced      the mode that the umask gives
//	                  when it is closed)
//
// As of a [File], nothing at the output's own name has changed before the rename, a failure leaves
// the old folder, and the hidden folder of a process that was killed goes when the same
// output is written next. There may be an empty folder before, and nothing else.
type Tree struct {
	fsys   fileSystem
	path   string // as the user named it
	target string // where it goes in the end, links followed
	hidden string // the folder that fills
	mode   fs.FileMode
	unlock func()   // of the hidden folder
	made   []string // folders in it, those above first
	err    error    // of the first failure, which is final
	state  atomic.Int32
}

// CreateTree opens the output at path. The caller ends with Commit or Abort. The error is an
// *Error.
func CreateTree(path string) (*Tree, error) { return createTree(osFS{}, path) }

func createTree(fsys fileSystem, path string) (*Tree, error) {
	t := &Tree{fsys: fsys, path: path, unlock: func() {}}
	err := t.resolve()
	if err == nil {
		err = t.createHidden()
	}
	if err != nil {
		return nil, &Error{Path: path, Op: "create", Err: err}
	}
	return t, nil
}

// ErrNotEmpty says that a folder cannot be an output, since there is something in it.
var ErrNotEmpty = errors.New("there are files in it; remove them, or name another folder")

// resolve finds the target, which may be an empty folder.
func (t *Tree) resolve() error {
	t.target = filepath.Clean(t.path)
	info, err := os.Stat(t.target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(t.target); err == nil {
			return ErrDanglingLink
		}
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("it is a file; name a folder")
	}
	names, err := t.fsys.Names(t.target)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return ErrNotEmpty
	}
	t.target, err = filepath.EvalSymlinks(t.target)
	return err
}

// createHidden makes the hidden folder beside the target, and takes its lock: see openHidden.
func (t *Tree) createHidden() error {
	sweep(t.fsys, t.target)
	for range openTries {
		t.hidden = hiddenName(t.target)
		if err := t.fsys.Mkdir(t.hidden, 0o777); err != nil {
			return err
		}
		own, err := t.lock()
		if own && err == nil {
			return nil
		}
		t.unlock()
		_ = t.fsys.RemoveAll(t.hidden) // nothing is in it
		if err != nil {
			return err
		}
	}
	return errSwept
}

// lock takes the lock of the hidden folder and hides its content. own: no process has removed the
// folder before.
func (t *Tree) lock() (own bool, err error) {
	h, err := t.fsys.OpenFile(t.hidden, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = h.Close() }() // nothing is written by it
	info, err := h.Stat()
	if err != nil {
		return false, err
	}
	t.mode = info.Mode().Perm()
	unlock, err := h.Lock()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return false, err
	}
	if err == nil && (unlock == nil || !isNamed(t.fsys, h, t.hidden)) {
		if unlock != nil {
			unlock()
		}
		return false, nil
	}
	if unlock != nil {
		t.unlock = unlock
	}
	return true, h.Chmod(0o700)
}

// Create makes the file name, a path below the tree, with the folders that it lies in. There must
// be none of that name. The error is an *Error, and final.
func (t *Tree) Create(name string) (*TreeFile, error) {
	if t.err != nil {
		return nil, t.err
	}
	var out handle
	err := t.mkdirs(filepath.Dir(name))
	if err == nil {
		out, err = t.fsys.OpenFile(filepath.Join(t.hidden, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return nil, t.failed("create", name, err)
	}
	return &TreeFile{tree: t, name: name, out: out}, nil
}

// mkdirs makes a folder of the tree with those above it. It never makes the hidden one, which is
// gone if the output has been given up.
func (t *Tree) mkdirs(dir string) error {
	at := t.hidden
	for _, part := range strings.Split(filepath.Clean(dir), string(filepath.Separator)) {
		if part == "." {
			return nil
		}
		at = filepath.Join(at, part)
		switch err := t.fsys.Mkdir(at, 0o777); {
		case err == nil:
			t.made = append(t.made, at)
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return nil
}

// failed is a failure, which is final.
func (t *Tree) failed(op, name string, err error) error {
	if t.err == nil {
		t.err = &Error{Path: filepath.Join(t.path, name), Op: op, Err: err}
	}
	return t.err
}

// Commit makes the output appear at its name. All files are closed. After a failure, or one of its
// own, it aborts and returns the error. A second call returns what the first did.
func (t *Tree) Commit() error {
	if t.state.Load() == ended {
		return t.err
	}
	for i := len(t.made); i > 0 && t.err == nil; i-- {
		t.step("sync the folders of", func() error { return syncFolder(t.fsys, t.made[i-1]) })
	}
	t.step("sync the folder of", func() error { return syncFolder(t.fsys, t.hidden) })
	if t.err != nil {
		t.Abort()
		return t.err
	}
	if !t.enter(ended) {
		return &Error{Path: t.path, Op: "finish", Err: errGivenUp}
	}
	defer t.unlock()
	t.step("set the mode of", t.setMode)
	t.step("replace", t.removeEmpty)
	t.step("rename to", func() error { return t.fsys.Rename(t.hidden, t.target) })
	if t.err != nil {
		_ = t.fsys.RemoveAll(t.hidden) // the error that matters is kept already
		return t.err
	}
	t.step("sync the folder above", func() error { return syncFolder(t.fsys, filepath.Dir(t.target)) })
	return t.err
}

func (t *Tree) setMode() error {
	h, err := t.fsys.OpenFile(t.hidden, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(h.Chmod(t.mode), h.Close())
}

// removeEmpty removes the empty folder that is in the target's place; no system lets a folder be
// renamed to it otherwise. It fails if something came into it meanwhile.
func (t *Tree) removeEmpty() error {
	err := t.fsys.Remove(t.target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// step does one step unless an earlier one failed.
func (t *Tree) step(op string, do func() error) {
	if t.err != nil {
		return
	}
	if err := do(); err != nil {
		t.err = &Error{Path: t.path, Op: op, Err: err}
	}
}

func (t *Tree) enter(state int32) bool { return t.state.CompareAndSwap(growing, state) }

// Abort gives the output up: the hidden folder is removed, and the old one stays. After Commit or
// Abort it does nothing, so it may be deferred.
func (t *Tree) Abort() {
	if !t.enter(ended) {
		return
	}
	_ = t.fsys.RemoveAll(t.hidden) // the caller has its error already
	t.unlock()
	t.step("finish", func() error { return errGivenUp })
}

// GiveUp is Abort for a goroutine other than the one that writes, as of a File.
func (t *Tree) GiveUp() bool {
	if !t.enter(givenUp) {
		return false
	}
	for range openTries { // a file may come into a folder while that is removed
		if t.fsys.RemoveAll(t.hidden) == nil {
			break
		}
	}
	return true
}

// TreeFile is one file of a Tree.
type TreeFile struct {
	tree *Tree
	name string
	out  handle
	size int64
}

// Write appends p. A failure is one of the tree.
func (f *TreeFile) Write(p []byte) (int, error) {
	if f.tree.err != nil {
		return 0, f.tree.err
	}
	n, err := f.out.Write(p)
	f.size += int64(n)
	if err != nil {
		err = f.tree.failed("write", f.name, err)
	}
	return n, err
}

// Size is how many bytes were written.
func (f *TreeFile) Size() int64 { return f.size }

// Close ends the file, which is on the disk then.
func (f *TreeFile) Close() error {
	op, err := "sync", f.out.Sync()
	if closeErr := f.out.Close(); err == nil {
		op, err = "close", closeErr
	}
	if err != nil {
		return f.tree.failed(op, f.name, err)
	}
	return f.tree.err
}
