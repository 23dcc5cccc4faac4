package parquetio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"unsafe"
)

const (
	// maxWalkDepth bounds how deep folders are entered below an input. Real
	// trees have fewer than ten levels.
	maxWalkDepth = 64

	// maxWalkDirs bounds how many folders one input may have.
	maxWalkDirs = 1 << 20

	// maxWalkAgain bounds how many folders are looked into more than once,
	// since links lead there. Links that cross each other make a tree of 2^n
	// paths out of n folders without making a loop.
	maxWalkAgain = 1 << 10

	// maxWalkErrors ends a walk: it has failed, and more errors would not be read.
	maxWalkErrors = 16

	// walkEntries is how many entries of a folder are read before anybody asks
	// whether they are still wanted.
	walkEntries = 1 << 10
)

// A walk visits what lies below a folder and follows symbolic links. Its
// caller decides, by path relative to the folder, what is wanted.
//
// Names are bytes, never text: they are neither decoded nor cleaned.
type walk struct {
	ctx   context.Context
	mem   *account              // that the paths are drawn from
	file  func(rel string) bool // called for regular files: take it?
	enter func(rel string) bool // called for folders: look inside?

	pruning *Pruning // rules out folders by their names; nil: nothing does
	files   []string // paths taken, unsorted until sorted
	dirs    int
	seen    map[fileID]bool // the folders
	again   int             // folders that were entered when they had been seen
	ended   bool            // nothing more is looked at
	errs    []error
}

var (
	errManyFolders = fmt.Errorf("more than %d folders below the input; name fewer with a glob", maxWalkDirs)
	errManyLinks   = fmt.Errorf("links lead to the same folders more than %d times; name the folders themselves", maxWalkAgain)
	errMadeUp      = errors.New("a folder that the kernel makes up; there are no data in it")
)

// walkBelow visits everything below root and returns the paths of the files
// taken, sorted by their bytes. Every folder that could not be read is
// in the error.
func (w *walk) walkBelow(root string) ([]string, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, pathError(root, err)
	}
	w.seen = map[fileID]bool{}
	w.visit(root, "", []fs.FileInfo{info})
	sort.Strings(w.files)
	return w.files, joinErrors(w.errs)
}

// visit reads one folder. above holds the folders on the way down, this one
// included: meeting one of them again is a loop.
func (w *walk) visit(dir, rel string, above []fs.FileInfo) {
	if !w.mayEnter(dir, above[len(above)-1]) {
		return
	}
	inner, err := w.entries(dir, rel)
	if err != nil && !(rel != "" && errors.Is(err, fs.ErrNotExist)) {
		w.fail(dir, err)
	}
	pruned := w.prune(dir, inner)
	for i, e := range inner {
		if w.ended {
			return
		}
		if pruned != nil && !pruned[i] && isFolder(joinPath(dir, e.Name()), e) {
			continue
		}
		w.visitEntry(joinPath(dir, e.Name()), path.Join(rel, e.Name()), e, above)
	}
}

// prune tells which of the folders in a folder are looked into; nil: all of them.
func (w *walk) prune(dir string, inner []fs.DirEntry) (enter []bool) {
	if w.pruning == nil {
		return nil
	}
	names := make([]string, len(inner))
	for i, e := range inner {
		names[i] = e.Name()
	}
	return w.pruning.Enter(joinPath(dir, ""), names)
}

// isFolder reports whether an entry is a folder, or a link to one.
func isFolder(p string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// mayEnter counts a folder, and tells whether it is looked into.
func (w *walk) mayEnter(dir string, info fs.FileInfo) bool {
	w.dirs++
	if id, ok := idOf(info); ok {
		if w.seen[id] {
			w.again++
		}
		w.seen[id] = true
	}
	switch {
	case w.stopped():
	case w.dirs > maxWalkDirs:
		w.fail(dir, errManyFolders)
		w.ended = true
	case w.again > maxWalkAgain:
		w.fail(dir, errManyLinks)
		w.ended = true
	case isMadeUp(dir):
		w.fail(dir, errMadeUp)
		return false
	}
	return !w.ended
}

// stopped reports whether the context has ended, and ends the walk then.
func (w *walk) stopped() bool {
	if err := w.ctx.Err(); err != nil && !w.ended {
		w.errs = append(w.errs, err)
		w.ended = true
	}
	return w.ended
}

// entries takes the files of a folder that are wanted, and returns what has to
// be looked at, by name: its folders and links.
func (w *walk) entries(dir, rel string) (inner []fs.DirEntry, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	for !w.stopped() {
		some, err := f.ReadDir(walkEntries)
		for _, e := range some {
			if !e.Type().IsRegular() {
				inner = append(inner, e)
			} else if w.file(path.Join(rel, e.Name())) {
				w.addFile(joinPath(dir, e.Name()))
			}
		}
		if err != nil || len(some) == 0 {
			slices.SortFunc(inner, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return inner, withoutEOF(err)
		}
	}
	return nil, nil
}

func withoutEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (w *walk) visitEntry(p, rel string, e fs.DirEntry, above []fs.FileInfo) {
	link := e.Type()&fs.ModeSymlink != 0
	if !e.IsDir() && !link { // pipe, socket, device
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
			w.addFile(p)
		}
	case info.IsDir() && w.enter(rel):
		w.descend(p, rel, info, above)
	}
}

// addFile adds a file to the list. A refusal of memory ends the walk.
func (w *walk) addFile(p string) {
	if w.ended {
		return
	}
	if err := w.mem.draw(pathBytes+int64(len(p)), "a list of files"); err != nil {
		w.errs, w.ended = append(w.errs, err), true
		return
	}
	w.files = append(w.files, p)
}

// pathBytes is the memory of a path in a list, beside its text.
const pathBytes = 2 * int64(unsafe.Sizeof(""))

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
	w.ended = w.ended || len(w.errs) >= maxWalkErrors
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
