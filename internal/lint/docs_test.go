package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedInDocs = regexp.MustCompile("`([\\w./-]+)`")
	makeTarget  = regexp.MustCompile(`\bmake ([a-z][a-z/-]*)`)
)

// What the guides name is there: files and folders of the repository, and targets of the Makefile.
func TestGuidesNameWhatExists(t *testing.T) {
	const root = "../.."
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for page, least := range map[string]int{"docs/CONTRIBUTING.md": 30, "docs/references.md": 15, "docs/tour.md": 80, "docs/glossary.md": 60} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for _, m := range namedInDocs.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			if !strings.Contains(name, "/") && !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "build/") {
				if _, err := os.Stat(filepath.Join(root, name)); err != nil {
					continue // a word of a language
				}
			}
			checked++
			if _, err := os.Stat(filepath.Join(root, name)); err != nil && !strings.HasPrefix(name, "build/") {
				t.Errorf("%s names %s, which is not there", page, name)
			}
		}
		if checked < least {
			t.Errorf("only %d names found in %s", checked, page)
		}
		for _, m := range makeTarget.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains("\n"+string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s names make %s, which is not there", page, m[1])
			}
		}
	}
}
