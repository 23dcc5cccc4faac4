// Package docpart holds parts of a page of documentation against what the program would write
// there, for tests. A part called functions lies between the lines <!-- functions --> and
// <!-- end of functions -->.
package docpart

import (
	"os"
	"strings"
	"testing"
)

// Check wants the part of a page to be text. With update it writes it there.
func Check(t *testing.T, page, part, text string, update bool) {
	t.Helper()
	begin, end := "<!-- "+part+" -->\n", "<!-- end of "+part+" -->"
	file, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(file), begin)
	shown, tail, ended := strings.Cut(rest, end)
	switch {
	case !found || !ended:
		t.Fatalf("%s lacks %q or %q", page, begin, end)
	case shown == text:
	case !update:
		t.Fatalf("%s shows other %s than there are; run this test with -update", page, part)
	default:
		if err := os.WriteFile(page, []byte(head+begin+text+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
