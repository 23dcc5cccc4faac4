package sink

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// openTries is how often a hidden file is made anew when a sweep took it for
// the leaving of a dead process. Each process sweeps once for an output.
const openTries = 16

// openHidden makes the hidden file and takes its lock, by which a sweep knows
// that its owner lives. Between the two a sweep of another process may remove
// it; then another one is made. Where files have no locks nothing is swept.
func (f *File) openHidden(perm fs.FileMode) (handle, error) {
	for range openTries {
		f.hidden = hiddenName(f.target)
		out, err := f.fsys.OpenFile(f.hidden, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err != nil {
			return nil, err
		}
		unlock, err := out.Lock()
		if errors.Is(err, errors.ErrUnsupported) {
			return out, nil
		}
		if unlock != nil && isNamed(f.fsys, out, f.hidden) {
			f.unlock = unlock
			return out, nil
		}
		if unlock != nil {
			unlock()
		}
		_ = out.Close() // nothing was written
		_ = f.fsys.Remove(f.hidden)
		if err != nil {
			return nil, err
		}
	}
	return nil, errSwept
}

// isNamed reports whether name is that of the open file.
func isNamed(fsys fileSystem, open handle, name string) bool {
	info, err := open.Stat()
	named, nameErr := fsys.Lstat(name)
	return err == nil && nameErr == nil && os.SameFile(info, named)
}

// errSwept is of an output whose hidden file, or folder, others removed each time it was made.
var errSwept = errors.New("other processes removed everything hidden that was made")

// sweep removes the hidden files and folders of target that dead processes have left:
// those whose lock is free. What it cannot remove stays for the next time.
func sweep(fsys fileSystem, target string) {
	dir, base := filepath.Split(target)
	names, err := fsys.Names(filepath.Join(dir, "."))
	if err != nil {
		return
	}
	for _, name := range names {
		if isHidden(name, base) {
			sweepOne(fsys, filepath.Join(dir, name))
		}
	}
}

// sweepOne removes a hidden file or folder if no process holds its lock.
func sweepOne(fsys fileSystem, name string) {
	info, err := fsys.Lstat(name)
	flag, remove := os.O_WRONLY, fsys.Remove
	switch {
	case err != nil:
		return
	case info.IsDir():
		flag, remove = os.O_RDONLY, fsys.RemoveAll
	case !info.Mode().IsRegular():
		return
	}
	h, err := fsys.OpenFile(name, flag, 0)
	if err != nil {
		return
	}
	defer func() { _ = h.Close() }() // nothing was written
	unlock, err := h.Lock()
	if err != nil || unlock == nil {
		return
	}
	defer unlock()
	if isNamed(fsys, h, name) {
		_ = remove(name)
	}
}

// isHidden reports whether name is one that hiddenName makes for base.
func isHidden(name, base string) bool {
	digits, ok := strings.CutPrefix(name, hiddenPrefix(base))
	_, err := hex.DecodeString(digits)
	return ok && err == nil && len(digits) == 16
}
