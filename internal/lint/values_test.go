package lint

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// guess is how a value was once excused.
var guess = regexp.MustCompile(`(?i)\ba\s+guess\b|\bguesses\b|\bis\s+guessed\b`)

// A value says what it was measured by, what it follows from, or what it may cost: not that it is a
// guess.
func TestNoGuesses(t *testing.T) {
	const root = "../.."
	if !guess.MatchString("most is how many there are at most. A\nguess.") {
		t.Fatal("what stands on two lines is not found")
	}
	for _, p := range module(t) {
		files, err := filepath.Glob(filepath.Join(root, p.dir(), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range parsed.Comments {
				if found := guess.FindString(c.Text()); found != "" {
					t.Errorf("%s: a comment says %q", strings.TrimPrefix(file, root+"/"), found)
				}
			}
		}
	}
}
