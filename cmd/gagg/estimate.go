package main

import (
	"math"
	"time"

	"github.com/gagg-dev/gagg"
)

// This file says how long a run will take: counts and times in, an estimate out, no clock.
//
// A run has up to three steps, one after the other:
//
//	reading   bytes of the input
//	merging   partitions; without an order the groups are written meanwhile
//	ordering  groups, in order: sorted runs are merged, and written
//
// The time of a step is what it has taken, divided by the part of it that is done. A step that has
// not begun, or hardly, has an expected time in place of that, from the number of groups, the bytes
// that were spilled and the costs below. These were measured on one machine; so what merging took
// beside what was expected of it corrects what is expected of ordering.

// Costs in seconds of one thread; those of ordering and writing cannot be divided among threads.
const (
	mergeGroup   = 0.23e-6 // merging a group, in memory
	mergeSpilled = 12e-9   // reading a spilled byte, as stored, and merging what it holds
	sortGroup    = 1.8e-6  // sorting a group, beside merging it
	orderGroup   = 0.8e-6  // a group out of sorted runs, into a record
	writeValue   = 50e-9   // a value into the result, in any format
)

// usualValues is how many values a group has, until the schema of the result is known.
const usualValues = 4

// steps of a run.
const (
	stepReading = iota
	stepMerging
	stepOrdering
	steps
)

// known is which part of a step must be done before what was observed counts alone.
const known = 0.03

// sampleEvery is how often an estimator notes how far a step is. What a step does later may take
// longer than what it did first, when memory was free, so its rate is that of the last half of the
// time that it has taken.
const sampleEvery = time.Second

// estimator follows a run.
type estimator struct {
	threads float64
	ordered bool  // the result is
	values  int   // of a group in the result; 0: it is not written
	most    int64 // groups that are wanted; 0: all
	keep    int64 // the same, with those that are passed over

	step    int
	began   [steps]time.Duration // when the step began, since the run did
	samples []sample             // of the step
}

// sample is how far a step was at a time since the run began.
type sample struct {
	at   time.Duration
	done float64
}

// stepOf is the step that a run is in, and which part of it is done.
func (e *estimator) stepOf(p gagg.Progress) (step int, done float64) {
	switch {
	case p.Phase != gagg.PhaseOutput:
		return stepReading, part(p.BytesDone, p.BytesTotal)
	case !e.ordered || p.PartitionsMerged < p.Partitions:
		return stepMerging, part(int64(p.PartitionsMerged), int64(p.Partitions))
	}
	return stepOrdering, part(p.Groups, e.wanted(p.GroupsTotal, e.most))
}

// wanted is how many of some groups are, if these are most; 0: all.
func (e *estimator) wanted(groups, most int64) int64 {
	if most == 0 {
		return groups
	}
	return min(groups, most)
}

// part is done of total, 0 to 1; 0 if there is no total.
func part(done, total int64) float64 {
	if total <= 0 {
		return 0
	}
	return min(float64(done)/float64(total), 1)
}

// total is about how long the whole run takes that is so far after some time; 0: nobody can say.
func (e *estimator) total(p gagg.Progress, elapsed time.Duration) time.Duration {
	if p.Phase != gagg.PhaseOutput && p.BytesTotal <= 0 {
		return 0
	}
	step, done := e.stepOf(p)
	for e.step < step {
		e.step++
		e.began[e.step], e.samples = elapsed, nil
	}
	if len(e.samples) == 0 {
		e.samples = []sample{{at: e.began[e.step]}}
	}
	if step == stepReading && done == 0 {
		return 0
	}
	now := sample{elapsed, done}
	e.note(now)
	expected := e.expected(p)
	if e.step == stepOrdering { // by what merging took beside what was expected
		took := (e.began[stepOrdering] - e.began[stepMerging]).Seconds()
		expected[stepOrdering] *= correction(took, expected[stepMerging])
	}
	left := e.left(expected[e.step], now)
	if e.step == stepMerging {
		observed := (elapsed - e.began[stepMerging]).Seconds() + left
		expected[stepOrdering] *= correction(observed, expected[stepMerging])
	}
	for later := e.step + 1; later < steps; later++ {
		left += expected[later]
	}
	return elapsed + time.Duration(left*float64(time.Second))
}

// correction is how much longer ordering takes than is expected, within limits, where merging took
// longer. That may be because of the machine or the disk, or of what is aggregated, which ordering
// has nothing to do with: half of it counts, as a factor.
func correction(took, expected float64) float64 {
	const most = 2
	if expected <= 0 {
		return 1
	}
	return min(max(math.Sqrt(took/expected), 1./most), most)
}

// note keeps a sample for each sampleEvery, of which those of the last half of the time matter.
func (e *estimator) note(s sample) {
	if e.step == stepOrdering && s.done == 0 { // sorters end, which says nothing of what follows
		e.samples = []sample{s}
	}
	if s.at-e.samples[len(e.samples)-1].at < sampleEvery {
		return
	}
	e.samples = append(e.samples, s)
	for len(e.samples) > 2 && e.samples[1].at < (e.began[e.step]+s.at)/2 {
		e.samples = e.samples[1:]
	}
}

// left is how many more seconds the step takes: as expected at first, as observed from known on.
func (e *estimator) left(expected float64, now sample) float64 {
	first := e.samples[0]
	if now.done == first.done { // it stands still
		first = sample{at: e.began[e.step]}
	}
	took, did := (now.at - first.at).Seconds(), now.done-first.done
	weight := math.Max(1-now.done/known, 0)
	switch {
	case did == 0:
		return (1 - now.done) * expected
	case expected == 0:
		weight = 0
	}
	return (1 - now.done) * (weight*expected + (1-weight)*took/did)
}

// expected is how many seconds each step is expected to take. Of reading nothing is.
func (e *estimator) expected(p gagg.Progress) (seconds [steps]float64) {
	groups, spilled := float64(p.GroupsTotal), float64(p.BytesSpilled)
	if p.Phase != gagg.PhaseOutput {
		spilled /= math.Max(part(p.BytesDone, p.BytesTotal), 0.01)
	}
	kept := float64(e.wanted(p.GroupsTotal, e.keep))
	write := float64(e.wanted(p.GroupsTotal, e.most)) * float64(e.values) * writeValue
	seconds[stepMerging] = (groups*mergeGroup + spilled*mergeSpilled) / e.threads
	if !e.ordered {
		seconds[stepMerging] += write
		return seconds
	}
	seconds[stepMerging] += kept * sortGroup / e.threads // others are told by a bound
	seconds[stepOrdering] = kept*orderGroup + write
	return seconds
}
