package main

import (
	"cmp"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/sink"
)

// Costs in seconds of a processor; those of ordering and writing cannot be divided among threads.
// They were measured on two busy cores, over the recordings of testdata/estimate: merging a
// spilled byte cost 4 ns for rows of numbers, 10 ns for texts, and 19 ns where partitions are
// divided again.
const (
	mergeGroup   = 0.06e-6 // merging a group, in memory
	mergeSpilled = 10e-9   // reading a spilled byte, as stored, and merging what it holds
	sortGroup    = 0.65e-6 // sorting a group, beside merging it
	runGroup     = 0.35e-6 // a group out of runs on disk, into one
	orderGroup   = 0.3e-6  // a group out of sorted runs, into a record
)

// writing is what it costs to write a value, in seconds of a processor: a number, or a text of
// about 27 characters.
type writing struct{ number, text float64 }

// writingOf is what a format costs with a compression. It was measured over 1.5e7 groups of five
// numbers and a text.
func writingOf(f sink.Format, compression string) writing {
	packs := compression != "" && compression != "none"
	switch {
	case f == sink.None:
		return writing{}
	case f.IsText() && packs:
		return writing{number: 0.22e-6, text: 0.7e-6}
	case f.IsText():
		return writing{number: 0.06e-6, text: 0.2e-6}
	case compression == "brotli":
		return writing{number: 0.3e-6, text: 0.3e-6}
	}
	return writing{number: 0.05e-6, text: 0.07e-6}
}

// value is what a value of an unknown type costs, as if one of four values were a text.
func (w writing) value() float64 { return (3*w.number + w.text) / 4 }

// group is what the values of a group cost.
func (w writing) group(schema *arrow.Schema) (seconds float64) {
	for _, f := range schema.Fields() {
		if f.Type.ID() == arrow.STRING || f.Type.ID() == arrow.DICTIONARY {
			seconds += w.text
		} else {
			seconds += w.number
		}
	}
	return seconds
}

// cost is seconds of a processor: of work that is divided among all threads, and of work that one
// thread does.
type cost struct{ all, one float64 }

// seconds is how long work takes, beside other jobs.
func (e *estimator) seconds(c cost) float64 {
	share := cmp.Or(e.share, 1)
	return c.all/e.threads/math.Pow(share, waitOfAll) + c.one/math.Pow(share, waitOfOne)
}

// costs is what each step is expected to cost. Of reading nothing is.
func (e *estimator) costs(p gagg.Progress) (costs [steps]cost) {
	groups, spilled := float64(p.GroupsTotal), float64(p.BytesSpilled)
	switch {
	case p.Phase != gagg.PhaseOutput:
		spilled /= math.Max(part(p.BytesDone, p.BytesTotal), 0.01)
	case e.step >= stepMerging: // sorted runs came since
		spilled = float64(e.spilled)
	}
	kept := float64(e.wanted(p.GroupsTotal, e.keep))
	write := float64(e.wanted(p.GroupsTotal, e.most)) * e.write
	costs[stepMerging].all = groups*mergeGroup + spilled*mergeSpilled
	if !e.ordered {
		costs[stepMerging].one = write
		return costs
	}
	costs[stepMerging].all += kept * sortGroup // a bound drops the other groups
	costs[stepOrdering].one = kept*orderGroup + write
	if p.BytesSpilled > 0 {
		costs[stepRuns].all = kept * runGroup
	}
	return costs
}
