package sink

import (
	"fmt"
	"os"
	"path/filepath"
)

// OverlapError says that writing an output would destroy an input or add to
// an input folder. It is a mistake in the command line.
type OverlapError struct {
	Output, Input string
	Inside        bool // the output lies in the input folder, else it is the input file
}

func (e *OverlapError) Error() string {
	if e.Inside {
		return fmt.Sprintf("the output %s lies inside the input folder %s; write it elsewhere", e.Output, e.Input)
	}
	return fmt.Sprintf("the output %s is the input %s; write it elsewhere", e.Output, e.Input)
}

// SameFile returns an *OverlapError if path is one of the inputs (files or
// folders; "-" is none) or lies inside an input folder, else nil. Device and
// inode decide, not names: links and letter case do not fool it. What cannot
// be looked at is left to fail when it is opened.
func SameFile(path string, inputs []string) error {
	output, _ := os.Stat(path)
	var folders []os.FileInfo
	if _, ok := descriptor(path); !ok {
		folders = foldersAbove(path)
	}
	for _, input := range inputs {
		info, err := os.Stat(input)
		if input == "-" || err != nil {
			continue
		}
		if output != nil && os.SameFile(output, info) {
			return &OverlapError{Output: path, Input: input}
		}
		for _, f := range folders {
			if info.IsDir() && os.SameFile(f, info) {
				return &OverlapError{Output: path, Input: input, Inside: true}
			}
		}
	}
	return nil
}

// Place is where an output goes, for comparing. The zero Place is none.
type Place struct {
	file   os.FileInfo // what is there; nil: nothing yet
	folder os.FileInfo // where a new file is to be
	name   string      // of a new file
}

// PlaceOf looks at path, links followed.
func PlaceOf(path string) Place {
	if info, err := os.Stat(path); err == nil {
		return Place{file: info}
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return Place{} // it cannot be made there, which Create says
	}
	return Place{folder: folder, name: filepath.Base(path)}
}

// PlaceOfFile is the place of an open file.
func PlaceOfFile(f *os.File) Place {
	info, err := f.Stat()
	if err != nil {
		return Place{}
	}
	return Place{file: info}
}

// IsRegular reports whether a regular file is there.
func (p Place) IsRegular() bool { return p.file != nil && p.file.Mode().IsRegular() }

// Same reports whether both are one file, which one of them would replace, or
// both would write into. Devices such as /dev/null and terminals may have
// several writers, so they are never the same.
func (p Place) Same(other Place) bool {
	switch {
	case p.file != nil && other.file != nil:
		return p.file.Mode()&os.ModeCharDevice == 0 && os.SameFile(p.file, other.file)
	case p.folder != nil && other.folder != nil:
		return p.name == other.name && os.SameFile(p.folder, other.folder)
	}
	return false
}

// foldersAbove returns the folders that the output lies in, with links
// followed, from the nearest to the root.
func foldersAbove(path string) []os.FileInfo {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	var out []os.FileInfo
	for {
		if info, err := os.Stat(dir); err == nil {
			out = append(out, info)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return out
		}
		dir = parent
	}
}
