package main

import (
	"slices"

	"github.com/gagg-dev/gagg"
)

// source is what the arguments name.
func (c *command) source() (gagg.Source, error) {
	if !slices.Contains(c.inputs, "-") {
		return gagg.Files(c.inputs...), nil
	}
	if len(c.inputs) > 1 {
		return nil, usagef("- (stdin) cannot be read together with other inputs: name it alone, or as /dev/stdin")
	}
	return gagg.Stream("stdin", c.stdin), nil
}
