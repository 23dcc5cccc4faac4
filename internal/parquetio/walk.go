package parquetio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
)

const (
	// maxWalkDepth bounds how deep folders are entered below an input. Real
	// trees have fewer than ten levels.
	maxWalkDepth = 64

	// maxWalkDirs bounds how many folders one input may have. Links that
	// cross each other make a tree of 2^n paths out of n folders without
	// making a loop.
	maxWalkDirs = 1 << 20
)

// A walk visits what lies below a folder and follows symbolic links. Whoever
// starts it decides, by path relative to the folder, what is wanted.
//
// Names are bytes, never text: they are neither decoded nor cleaned.
type walk struct {
	ctx   context.Context
	file  func(rel string) bool // called for regular files: take it?
	enter func(rel string) bool // called for folders: look inside?

	files []string // paths taken, unsorted until sorted
	dirs  int
	errs  []error
}

// walkBelow visits everything below root and returns the paths of the files
// taken, sorted by their bytes. Every folder that could not be read is
// in the error.
func (w *walk) walkBelow(root string) ([]string, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, pathError(root, err)
	}
	w.visit(root, "", []fs.FileInfo{info})
	sort.Strings(w.files)
	return w.files, joinErrors(w.errs)
}

// visit reads one folder. above holds the folders on the way down, this one
// included: meeting one of them again is a loop.
func (w *walk) visit(dir, rel string, above []fs.FileInfo) {
	if err := w.ctx.Err(); err != nil {
		if len(w.errs) == 0 {
			w.errs = append(w.errs, err)
		}
		return
	}
	if w.dirs++; w.dirs > maxWalkDirs {
		if w.dirs == maxWalkDirs+1 {
			w.fail(dir, fmt.Errorf("more than %d folders below the input; name fewer with a glob", maxWalkDirs))
		}
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !(rel != "" && errors.Is(err, fs.ErrNotExist)) {
		w.fail(dir, err)
	}
	for _, e := range entries {
		w.visitEntry(joinPath(dir, e.Name()), path.Join(rel, e.Name()), e, above)
	}
}

func (w *walk) visitEntry(p, rel string, e fs.DirEntry, above []fs.FileInfo) {
	link := e.Type()&fs.ModeSymlink != 0
	switch {
	case e.Type().IsRegular():
		if w.file(rel) {
			w.files = append(w.files, p)
		}
		return
	case !e.IsDir() && !link: // pipe, socket, device
		return
	}
	info, err := os.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Removed while the folder was listed, unless it is a link into
		// nowhere that looks like data.
		if link && w.file(rel) {
			w.fail(p, err)
		}
	case err != nil:
		if w.file(rel) || w.enter(rel) {
			w.fail(p, err)
		}
	case info.Mode().IsRegular():
		if w.file(rel) {
			w.files = append(w.files, p)
		}
	case info.IsDir() && w.enter(rel):
		w.descend(p, rel, info, above)
	}
}

func (w *walk) descend(p, rel string, info fs.FileInfo, above []fs.FileInfo) {
	for _, a := range above {
		if os.SameFile(a, info) {
			w.fail(p, errors.New("symbolic link back to a folder above it"))
			return
		}
	}
	if len(above) > maxWalkDepth {
		w.fail(p, fmt.Errorf("more than %d folders deep", maxWalkDepth))
		return
	}
	w.visit(p, rel, append(above[:len(above):len(above)], info))
}

func (w *walk) fail(p string, err error) {
	w.errs = append(w.errs, pathError(p, err))
}

// joinPath appends a name to a folder as the user wrote it. filepath.Join
// would resolve ".." by text, which is wrong behind a symbolic link.
func joinPath(dir, name string) string {
	switch {
	case dir == ".":
		return name
	case strings.HasSuffix(dir, "/"):
		return dir + name
	}
	return dir + "/" + name
}

// isHidden reports whether a listing passes over a file or folder of this
// name: dot files, and what writers keep beside the data (_SUCCESS,
// _temporary, _delta_log). A partition folder such as _day=3 is data.
func isHidden(name string) bool {
	return strings.HasPrefix(name, ".") ||
		strings.HasPrefix(name, "_") && !strings.Contains(name, "=")
}
