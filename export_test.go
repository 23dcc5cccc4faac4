package gagg

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/spill"
)

// SetSpillFS has all runs of a test spill to fs. The test must not be
// parallel.
func SetSpillFS(t testing.TB, fs spill.FS) {
	t.Helper()
	before := spillFS
	spillFS = fs
	t.Cleanup(func() { spillFS = before })
}
