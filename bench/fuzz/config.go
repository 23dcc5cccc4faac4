package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// config is a way of running a query.
type config struct {
	options []option
	format  string
	least   bool // the least memory limit that the run itself says it needs
	stdin   bool // the file comes by stdin
	pipe    bool // the answer goes to a pipe
	device  bool // it is to run on devices
}

// option is a flag and its values.
type option []string

// formats that can be read back; the others only have to end well.
var formats = []string{"parquet", "parquet", "csv", "csv", "tsv", "json", "ndjson", "arrow", "markdown", "table", "none"}

// newConfig draws a configuration.
func newConfig(rng *rand.Rand, t *table, device bool) config {
	c := config{format: pick(rng, formats...), device: device}
	add := func(chance int, o ...string) {
		if rng.IntN(chance) == 0 {
			c.options = append(c.options, o)
		}
	}
	add(1, "-j", fmt.Sprint(1+rng.IntN(4)))
	if device { // few partitions, so that they have rows enough for a bucket pass
		add(1, "--partitions", fmt.Sprint(pick(rng, 1, 1, 1, 1, 1, 2, 16)))
	} else {
		add(4, "--partitions", fmt.Sprint(pick(rng, 1, 2, 16, 64)))
	}
	add(3, "--no-pruning")
	if c.format == "parquet" {
		add(3, "--compression", pick(rng, "snappy", "zstd", "gzip", "brotli", "none"))
	}
	if c.format == "csv" || c.format == "tsv" {
		add(3, "--null", pick(rng, `\N`, "NULL", "-"))
	}
	c.least = !device && rng.IntN(6) == 0
	c.stdin = len(t.files) == 1 && rng.IntN(5) == 0
	c.pipe = c.format != "parquet" && rng.IntN(3) == 0
	if device {
		streams := pick(rng, 1, 1, 1, 2)
		memory := streams * pick(rng, 600, 600, 640, 640, 640, 640, 640, 700, 700, 900, 900, 16<<10)
		device := pick(rng, "gpu", "gpu", "0,1", "1,0")
		if rng.IntN(12) == 0 { // which hardly ever takes an emulator
			device = "auto"
		}
		add(1, "--device", device)
		add(1, "--streams", fmt.Sprint(streams))
		add(1, "--gpu-memory", fmt.Sprintf("%dKiB", memory))
		add(6, "--load-factor", "0.02,0.05")
		add(4, "--no-gpu-decoding")
	} else {
		add(2, "--device", "cpu")
	}
	return c
}

// args is what follows a query's own arguments, less the place for the answer.
func (c config) args(t *table) []string {
	var args []string
	for _, o := range c.options {
		args = append(args, o...)
	}
	if c.stdin {
		return append(args, "-")
	}
	return append(args, t.files...)
}

// without is c less one of its options; false when there is no such option.
func (c config) without(i int) (config, bool) {
	if n := len(c.options); i >= n {
		switch i - n {
		case 0:
			ok := c.least
			c.least = false
			return c, ok
		case 1:
			ok := c.stdin
			c.stdin = false
			return c, ok
		case 2:
			ok := c.format != "csv" || c.pipe
			c.format, c.pipe = "csv", false
			return c, ok && !slices.ContainsFunc(c.options, func(o option) bool { return o[0] == "--compression" })
		}
		return c, false
	}
	c.options = slices.Delete(slices.Clone(c.options), i, i+1)
	return c, true
}

// shell is a command line as a shell reads it.
func shell(args []string) string {
	var out []string
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`!*?[](){}<>|&;#~%") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}
