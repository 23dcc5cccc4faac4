//go:build !race

package cpu

// threadsTried is how many workers a run has in the tests that try all strategies.
var threadsTried = []int{1, 3}
