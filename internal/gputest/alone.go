package gputest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// aloneVariable holds the name of the test that the process was started for.
const aloneVariable = "GAGG_TEST_ALONE"

// Alone runs a test in a process of its own. It is true in that process, where
// the test goes on. In the process of the other tests it is false: the test has
// been run, its output and result have been taken over, and nothing is left to
// do but return.
//
//	if !gputest.Alone(t) {
//		return
//	}
func Alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv(aloneVariable) == t.Name() {
		return true
	}
	output, err := aloneOutput(t, t.Name())
	switch {
	case err != nil:
		t.Errorf("%v in a process of its own:\n%s", err, output)
	case strings.Contains(output, "--- SKIP: "):
		t.Skipf("skipped in a process of its own:\n%s", output)
	case !strings.Contains(output, "--- PASS: "):
		t.Errorf("the process did not run the test:\n%s", output)
	}
	return false
}

// aloneOutput runs the test of that name in a process of its own.
func aloneOutput(t *testing.T, name string) (string, error) {
	t.Helper()
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(name), "/", "$/^") + "$"
	command := bounded.Command(t, os.Args[0], "-test.run="+pattern, "-test.v", "-test.count=1")
	command.Env = append(os.Environ(), aloneVariable+"="+name)
	output, err := command.CombinedOutput()
	return string(output), err
}
