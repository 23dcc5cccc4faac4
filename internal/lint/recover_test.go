package lint

import (
	"go/ast"
	"slices"
	"testing"
)

// mayRecover is where panics are recovered from.
var mayRecover = []string{
	"internal/invariant", // for all others
	"internal/datagen",   // tries whether a library can write a footer
}

// Panics become errors in one way, by deferring a function of internal/invariant, so that each is
// either a mistake in gagg, with its stack, or what its fence says.
func TestOnlyInvariantRecovers(t *testing.T) {
	found := map[string]bool{}
	inspectOurs(t, func(file, dir string, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isName(call.Fun, "recover") {
			return
		}
		found[dir] = true
		if !slices.Contains(mayRecover, dir) {
			t.Errorf("%s recovers from a panic: defer invariant.Fence or invariant.Recovered", file)
		}
	})
	for _, dir := range mayRecover {
		if !found[dir] {
			t.Errorf("mayRecover has %s, which does not recover", dir)
		}
	}
}
