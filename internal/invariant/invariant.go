// Package invariant checks, under -tags invariant, what the rest of the code
// relies on and a caller cannot break: the rules that package comments name.
// Without the tag a check costs nothing.
//
// It is not for bad input, nor for what a user or the machine can cause:
// these are errors.
package invariant

// Check panics with the label of a broken invariant. The compiler drops the
// call and cond where the tag is off and cond has no side effects; a costly
// condition belongs into an if Enabled { }.
func Check(cond bool, label string) {
	if Enabled && !cond {
		panic("invariant broken: " + label)
	}
}
