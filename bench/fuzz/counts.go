package main

import (
	"fmt"
	"regexp"
)

// inBrackets is what differs between two reasons for the same thing.
var inBrackets = regexp.MustCompile(`\w+ ?\(.*\)|key .* is computed|column \w+`)

// counts is what has been done.
type counts struct {
	Seeds, Queries, Failing      int
	Runs, Least, Spilled         int
	DeviceRuns, OnDevice         int // asked to run there; ran there
	Evicting, Buckets, Both      int // runs
	Formats, Fallbacks, Statuses map[string]int
}

func (n *counts) add(o outcome, c config) {
	if n.Formats == nil {
		n.Formats, n.Fallbacks, n.Statuses = map[string]int{}, map[string]int{}, map[string]int{}
	}
	n.Runs++
	n.Formats[c.format]++
	n.Statuses[fmt.Sprint(o.status)]++
	if c.least {
		n.Least++
	}
	if o.stats.SpilledBytes > 0 {
		n.Spilled++
	}
	if !c.device {
		return
	}
	n.DeviceRuns++
	if len(o.stats.Devices) > 0 {
		n.OnDevice++
	}
	var evicted, buckets bool
	for _, d := range o.stats.Devices {
		evicted, buckets = evicted || d.Evictions > 0, buckets || d.Buckets > 0
	}
	if evicted {
		n.Evicting++
	}
	if buckets {
		n.Buckets++
	}
	if evicted && buckets {
		n.Both++
	}
	for _, fallback := range o.stats.Fallbacks {
		n.Fallbacks[fallback.What+": "+inBrackets.ReplaceAllString(fallback.Why, "(…)")]++
	}
}

func (n *counts) print(w *writers) {
	fmt.Printf("fuzz: %d seeds, %d queries (%d fail in DuckDB), %d runs by status %v, by format %v\n", n.Seeds, n.Queries, n.Failing, n.Runs, n.Statuses, n.Formats)
	fmt.Printf("fuzz: files by writer %v, refused %v\n", w.Wrote, w.Refused)
	fmt.Printf("fuzz: %d runs under the least memory limit, %d spilled\n", n.Least, n.Spilled)
	fmt.Printf("fuzz: %d runs with devices, %d on them: %d evicted rows, %d made bucket passes, %d both\n", n.DeviceRuns, n.OnDevice, n.Evicting, n.Buckets, n.Both)
	for why, count := range n.Fallbacks {
		fmt.Printf("fuzz: %6d fallbacks: %s\n", count, why)
	}
}
