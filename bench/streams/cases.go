package main

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg/streams"
)

// The kinds of cases.
const (
	link     = "link"     // plain copies in, in one stream
	pinned   = "pinned"   // a pipeline; the data are pinned and lent to it
	pageable = "pageable" // a pipeline; producers copy the data into its slots
	fill     = "fill"     // producers copy the data into pinned memory, and nothing else
)

// testCase is something to measure; what its kind does not have is 0.
type testCase struct {
	Kind      string `json:"kind"`
	Slot      int    `json:"slot"` // bytes of an input
	Streams   int    `json:"streams,omitempty"`
	Depth     int    `json:"depth,omitempty"`
	Producers int    `json:"producers,omitempty"`
}

func (c testCase) String() string {
	s := fmt.Sprintf("%s slot=%s", c.Kind, humanize.IBytes(uint64(c.Slot)))
	for _, part := range []struct {
		name  string
		value int
	}{{"streams", c.Streams}, {"depth", c.Depth}, {"producers", c.Producers}} {
		if part.value != 0 {
			s += fmt.Sprintf(" %s=%d", part.name, part.value)
		}
	}
	return s
}

// usual are the values of all axes but those that a series of cases varies.
func (a amounts) usual(kind string) testCase {
	return testCase{
		Kind: kind, Slot: min(streams.DefaultSlotBytes, a.slots[len(a.slots)-1]), Streams: streams.DefaultStreams,
		Depth: streams.DefaultDepth,
	}
}

// cases are all that is measured. Two axes at a time, since all together would
// take hours.
func (a amounts) cases() []testCase {
	var list []testCase
	add := func(c testCase, change func(*testCase)) {
		change(&c)
		list = append(list, c)
	}
	for _, slot := range a.slots {
		list = append(list, testCase{Kind: link, Slot: slot})
		for _, n := range a.streams {
			add(a.usual(pinned), func(c *testCase) { c.Slot, c.Streams = slot, n })
		}
	}
	for _, depth := range a.depths {
		for _, n := range a.streams {
			add(a.usual(pinned), func(c *testCase) { c.Depth, c.Streams = depth, n })
		}
	}
	for _, producers := range a.producers {
		list = append(list, testCase{Kind: fill, Slot: a.usual(fill).Slot, Producers: producers})
		for _, n := range a.streams {
			add(a.usual(pageable), func(c *testCase) { c.Producers, c.Streams = producers, n })
		}
	}
	for _, slot := range a.slots {
		add(a.usual(pageable), func(c *testCase) { c.Slot, c.Producers = slot, a.producers[len(a.producers)/2] })
	}
	return unique(list)
}

func unique(list []testCase) []testCase {
	seen := map[testCase]bool{}
	var once []testCase
	for _, c := range list {
		if !seen[c] {
			once = append(once, c)
		}
		seen[c] = true
	}
	return once
}
