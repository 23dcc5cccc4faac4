package spill

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	prefix     = "gagg-" // of private directories; 32 hexadecimal digits follow
	lockName   = "lock"
	fileSuffix = ".spill" // of files; their number stands before it
)

// makeTries is how often a directory is made anew when a sweep took it for
// an orphan. A process sweeps once, so more than a few sweeps at the same
// moment would be needed to use them up.
const makeTries = 32

// openFolder opens the folder that the user named, or refuses it (F2, F8).
func openFolder(name string) (*os.Root, error) {
	name = filepath.Clean(name) // Lstat of "link/" would look behind the link
	named, err := os.Lstat(name)
	if err != nil {
		return nil, folderError(name, err)
	}
	isLink := named.Mode()&fs.ModeSymlink != 0
	if isLink && ownedByOther(named) {
		return nil, &FolderError{Dir: name, Why: "it is a link that belongs to another user"}
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, folderError(name, err)
	}
	if err := safeFolder(name, root, named, isLink); err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

func safeFolder(name string, root *os.Root, named fs.FileInfo, isLink bool) error {
	info, err := root.Stat(".")
	switch {
	case err != nil:
		return folderError(name, err)
	case !isLink && !os.SameFile(named, info):
		return &FolderError{Dir: name, Why: "it was replaced while it was opened"}
	case openToAll(info):
		return &FolderError{Dir: name, Why: "anybody may write to it and it has no sticky bit (chmod +t)"}
	}
	return nil
}

// folderError tells the causes that are the user's mistake from the others.
func folderError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &FolderError{Dir: name, Why: "it does not exist"}
	case isNotDir(name, err):
		return &FolderError{Dir: name, Why: "it is not a folder"}
	}
	return failure(err, "open", name, 0)
}

func isNotDir(name string, err error) bool {
	if errors.Is(err, syscall.ENOTDIR) {
		return true
	}
	info, statErr := os.Stat(name)
	return statErr == nil && !info.IsDir()
}

// private is a private directory. It holds its lock (LOCKED) until it is
// removed.
type private struct {
	parent Dir
	name   string
	dir    Dir
	lock   Handle
}

// makePrivate makes a private directory in parent.
func makePrivate(parent Dir) (*private, error) {
	for range makeTries {
		p, err := tryPrivate(parent)
		if p != nil || err != nil {
			return p, err
		}
	}
	return nil, errors.New("other processes removed every private directory that was made")
}

// tryPrivate is one attempt. It returns nil without an error if a sweep of
// another process took the directory for an orphan, which it looks like
// until it is locked.
func tryPrivate(parent Dir) (*private, error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	p := &private{parent: parent, name: prefix + hex.EncodeToString(random[:])}
	if err := parent.Mkdir(p.name); err != nil {
		return nil, err
	}
	var err error
	if p.dir, err = parent.OpenDir(p.name); err == nil {
		if p.lock, err = p.dir.Create(lockName); err == nil {
			var mine bool
			if mine, err = claim(p.dir, p.lock); mine || errors.Is(err, errors.ErrUnsupported) {
				return p, nil // who cannot lock cannot sweep either
			}
		}
	}
	lost := lostToSweep(err)
	if !lost && p.dir != nil {
		_ = removeFile(p.dir, lockName)
	}
	_ = p.closeFiles() // nothing was written
	if lost {
		return nil, nil
	}
	_ = parent.Remove(p.name) // fails if it is not there or not empty
	return nil, err
}

// lostToSweep: the directory is gone, or a sweep made its lock file first,
// or holds the lock.
func lostToSweep(err error) bool {
	return err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)
}

// claim takes the lock of a private directory (LOCKED). The locked file must
// still be the one that the directory names: a sweep that was quicker has
// removed it, and only the one who holds the lock of the named file may
// remove anything.
func claim(dir Dir, lock Handle) (bool, error) {
	locked, err := lock.Lock()
	if err != nil || !locked {
		return false, err
	}
	held, err := lock.Stat()
	if err != nil {
		return false, err
	}
	named, err := dir.Lstat(lockName)
	return err == nil && os.SameFile(held, named), err
}

func (p *private) closeFiles() error {
	var err error
	if p.lock != nil {
		err = p.lock.Close()
	}
	if p.dir != nil {
		err = firstError(err, p.dir.Close())
	}
	return err
}

// remove removes the directory and what is in it. Between the lock file and
// the directory a sweep may come and make its own lock file. It then goes on
// to remove the directory in our place.
func (p *private) remove() error {
	err := emptyPrivate(p.dir)
	if err == nil {
		err = p.parent.Remove(p.name)
	}
	// which is "not empty", too
	swept := errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)
	if closeErr := p.closeFiles(); err == nil || swept {
		return closeErr
	}
	return err
}

// emptyPrivate removes the files of a private directory, the lock file last.
func emptyPrivate(dir Dir) error {
	names, err := dir.Names("")
	if err != nil {
		return err
	}
	var failed error
	for _, name := range names {
		if isFileName(name) {
			failed = errors.Join(failed, removeFile(dir, name))
		}
	}
	if failed != nil {
		return failed
	}
	return removeFile(dir, lockName)
}

// removeFile is Remove of a file that may be gone.
func removeFile(dir Dir, name string) error {
	if err := dir.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sweep removes the private directories of dead processes from the folder.
// What it cannot remove stays for the next sweep.
func sweep(folder Dir) {
	names, err := folder.Names(prefix)
	if err != nil {
		return
	}
	for _, name := range names {
		if isPrivateName(name) {
			sweepOne(folder, name)
		}
	}
}

// sweepOne removes one directory if it can take its lock. If there is no
// lock file yet it makes one: the owner, which may be alive and about to
// make it, then finds that it exists and starts again.
func sweepOne(folder Dir, name string) {
	info, err := folder.Lstat(name)
	if err != nil || !info.IsDir() {
		return
	}
	dir, err := folder.OpenDir(name)
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }()
	lock, err := dir.OpenOrCreate(lockName)
	if err != nil {
		return
	}
	defer func() { _ = lock.Close() }() // gives the lock back
	if dead, err := claim(dir, lock); err != nil || !dead {
		return
	}
	if emptyPrivate(dir) == nil {
		_ = folder.Remove(name)
	}
}

// isPrivateName and isFileName keep a sweep away from what happens to have a
// name like ours.
func isPrivateName(name string) bool {
	digits, ok := strings.CutPrefix(name, prefix)
	_, err := hex.DecodeString(digits)
	return ok && err == nil && len(digits) == 32
}

func isFileName(name string) bool {
	digits, ok := strings.CutSuffix(name, fileSuffix)
	n, err := strconv.ParseUint(digits, 10, 32)
	return ok && err == nil && name == fileName(uint32(n))
}

func fileName(n uint32) string { return strconv.FormatUint(uint64(n), 10) + fileSuffix }
