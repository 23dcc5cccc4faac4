package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What docs/faults.md names as the test of a fault exists.
func TestFaultsAreHeld(t *testing.T) {
	const root = "../.."
	text, err := os.ReadFile(filepath.Join(root, "docs/faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, m := range regexp.MustCompile("`([a-z/0-9]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllSubmatch(text, -1) {
		checked++
		if dir, name := string(m[1]), string(m[2]); !declares(t, filepath.Join(root, strings.TrimPrefix(dir, "gagg")), name) {
			t.Errorf("docs/faults.md names %s.%s, which does not exist", dir, name)
		}
	}
	for _, m := range regexp.MustCompile("`([a-z]+\\.txtar)`").FindAllSubmatch(text, -1) {
		checked++
		if _, err := os.Stat(filepath.Join(root, "cmd/gagg/testdata/script", string(m[1]))); err != nil {
			t.Errorf("docs/faults.md names the story %s: %v", m[1], err)
		}
	}
	if checked < 100 {
		t.Errorf("only %d tests found in docs/faults.md", checked)
	}
}

// declares reports whether a test file of dir has the function name.
func declares(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
