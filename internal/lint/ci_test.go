package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// What a failing step of ci said, and its name, are the last that is printed, though another step
// ends after it.
func TestFailingStepIsLast(t *testing.T) {
	make, err := exec.LookPath("make")
	if err != nil {
		t.Skip("no make")
	}
	real, err := filepath.Abs("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	fake := "include " + real + "\n" +
		"lint imports deadcode test-device test-device-asan test-plain test-invariant test-arrow test-servers race fuzz-short bench clean-tree: ; @echo fine\n" +
		"fmt-check: ; @echo 'ok  \tsome/package'; echo 'the reason'; echo 'ok  \tanother/package'; false\n" +
		"vet: ; @sleep 0.3; echo 'a slow step'\n"
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(fake), 0o600); err != nil {
		t.Fatal(err)
	}
	c := bounded.Command(t, make, "ci")
	c.Dir = dir
	c.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
	out, err := c.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	end := strings.Join(lines[max(len(lines)-3, 0):], "\n")
	if err == nil || !strings.Contains(string(out), "a slow step") || !strings.Contains(end, "the reason") || !strings.HasSuffix(end, "\nci: FAILED: fmt-check") {
		t.Errorf("%v; the output ends in\n%s", err, out)
	}
}
