package lint

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// citation is authors with their initials, a title, where it appeared, and the year.
var citation = regexp.MustCompile(`^([A-Z]\. ?(-?[A-Z]\. )*[\w'. -]+, )*[A-Z]\. ?(-?[A-Z]\. )*[\w'. -]+: [A-Z][^.]+\. .*\b(19|20)\d\d\b`)

// Who reads a comment that cites a paper finds it: docs/references.md has all authors, the title,
// where it appeared and when.
func TestReferencesAreWhole(t *testing.T) {
	text, err := os.ReadFile("../../docs/references.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || strings.HasPrefix(cells[1], "what") {
			continue
		}
		checked++
		if !citation.MatchString(cells[1]) || strings.Contains(cells[1], "and others") {
			t.Errorf("docs/references.md: %s is no whole citation", strings.TrimPrefix(cells[0], "| "))
		}
	}
	if checked < 13 {
		t.Errorf("only %d references found", checked)
	}
}
