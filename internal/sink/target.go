package sink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// target is the file, folder or device of an output path.
type target struct {
	path   string      // symbolic links followed; of a stream: unset
	stream bool        // not a regular file: written as it is, never renamed
	exists bool        // a regular file is there
	mode   fs.FileMode // its permissions
}

// resolve finds the target of path. A link is written through only to a
// regular file, a pipe or a device; a link to nothing is refused, since the user
// has not named the place to which it points.
func resolve(path string) (target, error) {
	if _, ok := descriptor(path); ok {
		return target{stream: true}, nil
	}
	if path == "" {
		return target{}, errors.New("the name is empty")
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return resolveNew(path)
	}
	if err != nil {
		return target{}, err
	}
	if info.IsDir() {
		return target{}, ErrIsFolder
	}
	if !info.Mode().IsRegular() {
		return target{stream: true}, nil
	}
	real, err := filepath.EvalSymlinks(path)
	return target{path: real, exists: true, mode: info.Mode().Perm()}, err
}

func resolveNew(path string) (target, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&fs.ModeSymlink == 0 {
			return resolve(path) // another process put it there a moment ago
		}
		return target{}, ErrDanglingLink
	}
	if os.IsPathSeparator(path[len(path)-1]) {
		return target{}, ErrIsFolder
	}
	return target{path: path}, nil
}

// descriptor knows the names of the process's own open files. They must
// never be opened by name: a regular file behind /dev/stdout would be
// written from its start again.
func descriptor(path string) (fd int, ok bool) {
	clean := filepath.Clean(path)
	switch clean {
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if number, found := strings.CutPrefix(clean, dir); found {
			fd, err := strconv.Atoi(number)
			return fd, err == nil && fd >= 0
		}
	}
	return 0, false
}

// openStream opens a pipe or device for writing. Opening a FIFO waits for
// its reader, as everywhere in Unix.
func openStream(fsys fileSystem, path string) (handle, error) {
	fd, ok := descriptor(path)
	if !ok {
		return fsys.OpenFile(path, os.O_WRONLY, 0)
	}
	second, err := duplicate(uintptr(fd)) // so that closing it leaves the process its own
	if err != nil {
		return nil, err
	}
	return osHandle{os.NewFile(second, path)}, nil
}
