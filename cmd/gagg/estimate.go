package main

import (
	"cmp"
	"math"
	"time"

	"github.com/gagg-dev/gagg"
)

// This file says how long a run will take: counts and times in, an estimate out, no clock.
//
// A run has up to four steps, one after the other:
//
//	reading   bytes of the input
//	merging   partitions; without an order the groups are written meanwhile, else sorted into runs
//	runs      where there are too many sorted runs on disk, some of them become one; nothing tells
//	          how far that is
//	ordering  groups, in order: sorted runs are merged, and written
//
// The time of a step is what it has taken, divided by the part of it that is done. A step that has
// not begun, or hardly, has an expected time in place of that: from the number of groups, the bytes
// that were spilled and the costs below, which are processor time, and from what part of the time
// that it wanted a processor the run has had one. So other jobs on the machine count from the
// beginning. The costs were measured on one machine; what merging took beside what was expected of
// it corrects what is expected later.

// Costs in seconds of a processor; those of ordering and writing cannot be divided among threads.
// They are of 2e7 groups of six keys under 120 MiB, on two busy cores.
const (
	mergeGroup   = 0.06e-6 // merging a group, in memory
	mergeSpilled = 3e-9    // reading a spilled byte, as stored, and merging what it holds
	sortGroup    = 0.55e-6 // sorting a group, beside merging it
	runGroup     = 0.35e-6 // a group out of runs on disk, into one
	orderGroup   = 0.22e-6 // a group out of sorted runs, into a record
	writeValue   = 50e-9   // a value into the result, in any format
)

// worked is what a process has had of processors.
type worked struct {
	ran    time.Duration // of all threads
	waited time.Duration // that they were ready to run, and did not
}

// share is the part of the wanted time that the process is expected to have; 1: nobody knows. Other
// jobs come and go, and a step of one thread waits less than one of all: more than half of what was
// observed counts, as a factor.
func (w worked) share() float64 {
	if w.ran <= 0 {
		return 1
	}
	return math.Pow(float64(w.ran)/float64(w.ran+w.waited), 0.6)
}

// usualValues is how many values a group has, until the schema of the result is known.
const usualValues = 4

// steps of a run.
const (
	stepReading = iota
	stepMerging
	stepRuns
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

	share   float64 // worked.share; 0: 1
	spilled int64   // bytes, before merging

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
	case p.Groups == 0:
		return stepRuns, 0
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

// total is about how long the whole run takes that is so far after some time, in which the process
// has had so much of processors; 0: nobody can say.
func (e *estimator) total(p gagg.Progress, elapsed time.Duration, has worked) time.Duration {
	e.share = has.share()
	if p.Phase != gagg.PhaseOutput && p.BytesTotal <= 0 {
		return 0
	}
	step, done := e.stepOf(p)
	for e.step < step {
		if e.step++; e.step == stepMerging {
			e.spilled = p.BytesSpilled
		}
		e.began[e.step], e.samples = elapsed, nil
	}
	if len(e.samples) == 0 {
		e.samples = []sample{{at: e.began[e.step], done: done}}
	}
	if step == stepReading && done == 0 {
		return 0
	}
	now := sample{elapsed, done}
	e.note(now)
	expected := e.expected(p)
	if e.step > stepMerging { // by what merging took beside what was expected
		took := (e.began[stepRuns] - e.began[stepMerging]).Seconds()
		correct(&expected, took)
	}
	left := e.left(expected[e.step], now)
	if e.step == stepMerging {
		correct(&expected, (elapsed-e.began[stepMerging]).Seconds()+left)
	}
	for later := e.step + 1; later < steps; later++ {
		left += expected[later]
	}
	return elapsed + time.Duration(left*float64(time.Second))
}

// correct changes what is expected of the steps behind merging, which takes so long.
func correct(expected *[steps]float64, took float64) {
	by := correction(took, expected[stepMerging])
	for later := stepMerging + 1; later < steps; later++ {
		expected[later] *= by
	}
}

// correction is how much longer later steps take than is expected, within limits, where merging
// took longer. That may be because of the machine or the disk, or of what is aggregated, which
// ordering has nothing to do with: the fourth root of it counts.
func correction(took, expected float64) float64 {
	const most = 2
	if expected <= 0 {
		return 1
	}
	return min(max(math.Sqrt(math.Sqrt(took/expected)), 1./most), most)
}

// note keeps a sample for each sampleEvery, of which those of the last half of the time matter.
func (e *estimator) note(s sample) {
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
	if e.step == stepRuns {
		return math.Max(expected-(now.at-e.began[stepRuns]).Seconds(), 0)
	}
	first := e.samples[0]
	if now.done == first.done { // it stands still
		first = sample{at: e.began[e.step]}
	}
	took, did := (now.at - first.at).Seconds(), now.done-first.done
	weight := math.Max(1-now.done/known, 0)
	switch {
	case did == 0 || took == 0:
		return (1 - now.done) * expected
	case expected == 0:
		weight = 0
	}
	return (1 - now.done) * (weight*expected + (1-weight)*took/did)
}

// expected is how many seconds each step is expected to take. Of reading nothing is.
func (e *estimator) expected(p gagg.Progress) (seconds [steps]float64) {
	groups, spilled := float64(p.GroupsTotal), float64(p.BytesSpilled)
	switch {
	case p.Phase != gagg.PhaseOutput:
		spilled /= math.Max(part(p.BytesDone, p.BytesTotal), 0.01)
	case e.step >= stepMerging: // sorted runs came since
		spilled = float64(e.spilled)
	}
	kept := float64(e.wanted(p.GroupsTotal, e.keep))
	write := float64(e.wanted(p.GroupsTotal, e.most)) * float64(e.values) * writeValue
	seconds[stepMerging] = (groups*mergeGroup + spilled*mergeSpilled) / e.threads
	if e.ordered {
		seconds[stepMerging] += kept * sortGroup / e.threads // others are told by a bound
		seconds[stepOrdering] = kept*orderGroup + write
		if p.BytesSpilled > 0 {
			seconds[stepRuns] = kept * runGroup / e.threads
		}
	} else {
		seconds[stepMerging] += write
	}
	for step := range seconds {
		seconds[step] /= cmp.Or(e.share, 1)
	}
	return seconds
}
