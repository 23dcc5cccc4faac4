//go:build race

package cpu

// threadsTried is how many workers a run has in the tests that try all strategies: with the race
// detector, which has nothing to find in one that is alone, several.
var threadsTried = []int{3}
