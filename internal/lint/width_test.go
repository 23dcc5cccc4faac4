package lint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// narrow is the packages, with those below them, whose comments have at most 100 columns. More are
// to come.
var narrow = []string{
	"ega", "feedback", "merge", "partition", "streams",
	"internal/agg", "internal/cpu", "internal/decode", "internal/encoded", "internal/exec", "internal/gpu", "internal/trace",
}

// A comment has at most 100 columns, a tab being four; drawings and tables, which begin with a tab,
// may have more.
func TestCommentWidth(t *testing.T) {
	const root, most = "../..", 100
	for _, p := range module(t) {
		below := func(top string) bool { return p.dir() == top || strings.HasPrefix(p.dir(), top+"/") }
		if !slices.ContainsFunc(narrow, below) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, p.dir(), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				comment := strings.TrimLeft(line, "\t")
				if !strings.HasPrefix(comment, "// ") {
					continue
				}
				if n := len([]rune(comment)) + 4*(len(line)-len(comment)); n > most {
					t.Errorf("%s:%d: a comment of %d columns", strings.TrimPrefix(file, root+"/"), i+1, n)
				}
			}
		}
	}
}
