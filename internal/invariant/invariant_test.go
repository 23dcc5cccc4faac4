package invariant_test

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/invariant"
)

func TestCheck(t *testing.T) {
	invariant.Check(true, "holds")
	defer func() {
		if broken := recover() != nil; broken != invariant.Enabled {
			t.Errorf("a broken invariant panics: %v, want %v", broken, invariant.Enabled)
		}
	}()
	invariant.Check(false, "does not hold")
}
