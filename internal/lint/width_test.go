package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A comment has at most 100 columns, a tab being four: of Go, of kernels, of C++, of makefiles and
// of shell scripts.
// Drawings and tables, which begin with a tab, may have more, and so may what is generated.
func TestCommentWidth(t *testing.T) {
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if slices.Contains([]string{".git", "build", "node_modules", "testdata"}, name) {
				return filepath.SkipDir
			}
		case slices.Contains([]string{".go", ".cu", ".cuh", ".cc", ".h"}, filepath.Ext(name)) && !strings.Contains(name, "_gen"):
			checkWidth(t, path, "// ")
		case name == "Makefile", strings.HasSuffix(name, ".mk"), strings.HasSuffix(name, ".sh"):
			checkWidth(t, path, "# ")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkWidth wants the comments of a file, which begin with mark, to have at most 100 columns.
func checkWidth(t *testing.T, path, mark string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const most = 100
	for i, line := range strings.Split(string(text), "\n") {
		comment := strings.TrimLeft(line, "\t ")
		indent := strings.ReplaceAll(strings.TrimSuffix(line, comment), "\t", "    ")
		if n := len(indent) + len([]rune(comment)); strings.HasPrefix(comment, mark) && n > most {
			t.Errorf("%s:%d: a comment of %d columns", path, i+1, n)
		}
	}
}
