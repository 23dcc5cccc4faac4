package firstpass_test

import (
	"testing"

	"github.com/gagg-dev/gagg/ega/egatest"
)

// rig is egatest's, for methods of these tests.
type rig struct{ *egatest.Rig }

func newRig(tb testing.TB) *rig {
	tb.Helper()
	return &rig{egatest.NewRig(tb)}
}
