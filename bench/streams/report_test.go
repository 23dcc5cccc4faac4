package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/gputest"
)

// Every axis is gone through, and no case twice.
func TestCases(t *testing.T) {
	list := full.cases()
	for _, axis := range []struct {
		values []int
		of     func(testCase) int
	}{
		{full.slots, func(c testCase) int { return c.Slot }},
		{full.streams, func(c testCase) int { return c.Streams }},
		{full.depths, func(c testCase) int { return c.Depth }},
		{full.producers, func(c testCase) int { return c.Producers }},
	} {
		for _, v := range axis.values {
			if !slices.ContainsFunc(list, func(c testCase) bool { return axis.of(c) == v }) {
				t.Errorf("no case has %d", v)
			}
		}
	}
	for i, c := range list {
		if slices.Contains(list[:i], c) {
			t.Errorf("%v comes twice", c)
		}
	}
}

// The link's rate is the best of plain copies, and shares are of that.
func TestReport(t *testing.T) {
	r := report{Rows: []row{
		{testCase{Kind: link, Slot: 1 << 20}, figures{Rate: 40}},
		{testCase{Kind: link, Slot: 8 << 20}, figures{Rate: 50}},
		{testCase{Kind: pinned, Slot: 8 << 20, Streams: 2, Depth: 3}, figures{Rate: 46, Cores: .25, Start: 12}},
	}}
	var out strings.Builder
	if err := r.publish(&out, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| pinned slot=8.0 MiB streams=2 depth=3 | 46 | 92 | 0.25 | 12 |", "| link slot=1.0 MiB | 40 | 80 |", "≥ 90 %  92   reached", "not measured"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// All of it runs, with little data.
func TestMeasure(t *testing.T) {
	thread := gputest.Open(t)
	b, err := newBench(thread, small)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range small.cases() {
		if f, err := b.measure(c); err != nil || f.Rate <= 0 {
			t.Errorf("%v: %+v, %v", c, f, err)
		}
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}
