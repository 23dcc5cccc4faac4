package main

import (
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
// that were spilled and the costs in estimate_cost.go, which are processor time, and from the part
// of the time that the run wanted a processor and had one. So other jobs on the machine count from
// the beginning. The costs were measured on one machine. Two things correct them: the processor
// time that merging needs, as soon as a few partitions are merged, and the time that it took, for
// the steps behind it.

// worked is the processor time of a process.
type worked struct {
	ran    time.Duration // of all threads
	waited time.Duration // time in which they were ready to run, and did not
}

// share is how long the threads of the process ran, as a part of the time for which they were
// ready to run; 1: nobody knows.
func (w worked) share() float64 {
	if w.ran <= 0 {
		return 1
	}
	return float64(w.ran) / float64(w.ran+w.waited)
}

// A step of all threads, and one of a single thread, is expected to have these powers of the share
// that the run has had so far. A single thread waits less: it does not wait for the other threads
// of the run. Of all threads the power is less than 1, because other jobs come and go.
const (
	waitOfAll = 0.9
	waitOfOne = 0.3
)

// steps of a run.
const (
	stepReading = iota
	stepMerging
	stepRuns
	stepOrdering
	steps
)

// These are the parts of a step that must be done before an observation of it counts as much as the
// expectation: an observation of its time, which other jobs change, and one of the processor time
// that it needed, which they hardly change.
const (
	trusted     = 0.1
	trustedWork = 0.02
)

// sampleEvery is how often an estimator notes how far a step is. What a step does later may take
// longer than what it did first, when memory was free, so its rate is that of the last half of the
// time that it has taken.
const sampleEvery = time.Second

// estimator follows a run.
type estimator struct {
	threads float64
	ordered bool    // the result is
	write   float64 // the cost of writing the values of a group; 0: they are not written
	most    int64   // groups that are wanted; 0: all
	keep    int64   // the same, with those that are passed over

	share   float64 // worked.share; 0: 1
	spilled int64   // bytes, before merging

	step    int
	began   [steps]time.Duration // when the step began, since the run did
	ran     time.Duration        // worked.ran when the step began
	samples []sample             // of the step
}

// sample is the progress of a step at a time since the run began.
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

// wanted is how many of some groups are wanted, if `most` are; 0: all.
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

// total estimates how long the whole run takes, by its progress, the time since it began, and the
// processor time that it has had; 0: not known.
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
		e.began[e.step], e.ran, e.samples = elapsed, has.ran, nil
	}
	if len(e.samples) == 0 {
		e.samples = []sample{{at: e.began[e.step], done: done}}
	}
	if step == stepReading && done == 0 {
		return 0
	}
	now := sample{elapsed, done}
	e.note(now)
	costs := e.costs(p)
	var expected [steps]float64
	for i, c := range costs {
		expected[i] = e.seconds(c)
	}
	if e.step > stepMerging { // corrected by the time that merging took
		took := (e.began[stepRuns] - e.began[stepMerging]).Seconds()
		correct(&expected, took)
	}
	left := e.left(expected[e.step]*e.costlier(costs[e.step], done, has), now)
	if e.step == stepMerging {
		correct(&expected, (elapsed-e.began[stepMerging]).Seconds()+left)
	}
	for later := e.step + 1; later < steps; later++ {
		left += expected[later]
	}
	return elapsed + time.Duration(left*float64(time.Second))
}

// correct changes what is expected of the steps after merging, which takes that long.
func correct(expected *[steps]float64, took float64) {
	by := correction(took, expected[stepMerging])
	for later := stepMerging + 1; later < steps; later++ {
		expected[later] *= by
	}
}

// correction is how much longer than expected later steps take if merging took longer, within
// limits. The reason may be the machine or the disk, or the aggregates, which do not matter for
// ordering. So only the fourth root counts.
func correction(took, expected float64) float64 {
	const most = 2
	if expected <= 0 {
		return 1
	}
	return min(max(math.Sqrt(math.Sqrt(took/expected)), 1./most), most)
}

// note keeps a sample for each sampleEvery, and drops those before the last half of the time.
func (e *estimator) note(s sample) {
	if s.at-e.samples[len(e.samples)-1].at < sampleEvery {
		return
	}
	e.samples = append(e.samples, s)
	for len(e.samples) > 2 && e.samples[1].at < (e.began[e.step]+s.at)/2 {
		e.samples = e.samples[1:]
	}
}

// left is how many more seconds the step takes: first as expected, then more and more as observed.
// Both are wrong by factors, so the mean of the two is a geometric one.
func (e *estimator) left(expected float64, now sample) float64 {
	if e.step == stepRuns {
		return math.Max(expected-(now.at-e.began[stepRuns]).Seconds(), 0)
	}
	first := e.samples[0]
	if now.done == first.done { // it stands still
		first = sample{at: e.began[e.step]}
	}
	took, did := (now.at - first.at).Seconds(), now.done-first.done
	switch {
	case did == 0 || took == 0:
		return (1 - now.done) * expected
	case expected == 0:
		return (1 - now.done) * took / did
	}
	weight := trusted / (trusted + now.done)
	return (1 - now.done) * math.Pow(expected, weight) * math.Pow(took/did, 1-weight)
}

// costlier is how many times the expected processor time merging needs, by what it needed so far.
func (e *estimator) costlier(c cost, done float64, has worked) float64 {
	needed, expected := (has.ran - e.ran).Seconds(), done*(c.all+c.one)
	if e.step != stepMerging || needed <= 0 || expected <= 0 {
		return 1
	}
	return math.Pow(needed/expected, done/(trustedWork+done))
}
