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
	if _, ok := descriptor(path); ok {
		return nil
	}
	output, _ := os.Stat(path)
	folders := foldersAbove(path)
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
