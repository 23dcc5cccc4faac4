package main

import (
	"math"
	"testing"
	"time"

	"github.com/gagg-dev/gagg"
)

// simulated is a run of steps that take some seconds, on a machine on which they cost so many times
// what is expected.
type simulated struct {
	name         string
	ordered      bool
	read         float64 // seconds
	groups       int64
	spilled      int64
	slower       float64
	silent       float64 // seconds before the first group of an order
	readingSlows bool    // the second half takes 1.5 times as long as the first
}

// From the tenth second on an estimate is within a third of the truth.
func TestEstimate(t *testing.T) {
	for _, s := range []simulated{
		{name: "reading alone", read: 60, slower: 1},
		{name: "reading that slows down", read: 60, slower: 1, readingSlows: true},
		{name: "many groups", read: 20, groups: 100e6, slower: 1},
		{name: "spilled", read: 20, groups: 50e6, spilled: 4e9, slower: 1},
		{name: "spilled, a slower machine", read: 8, groups: 50e6, spilled: 4e9, slower: 2.5},
		{name: "ordered", ordered: true, read: 8, groups: 20e6, spilled: 500e6, slower: 1, silent: 4},
		{name: "ordered, a slower machine", ordered: true, read: 8, groups: 20e6, spilled: 500e6, slower: 2.5, silent: 8},
		{name: "ordered, a faster machine", ordered: true, read: 20, groups: 200e6, spilled: 9e9, slower: 0.8},
	} {
		truth, estimates := s.run()
		for second, estimate := range estimates {
			if second < 10 {
				continue
			}
			if off := estimate / truth; off < 2./3 || off > 4./3 {
				t.Errorf("%s: after %d s of %.0f: %.0f", s.name, second, truth, estimate)
			}
		}
	}
}

// run is how long the run takes, and what was estimated after each second.
func (s simulated) run() (truth float64, estimates []float64) {
	e := estimator{threads: 2, ordered: s.ordered, values: 6}
	last := gagg.Progress{Phase: gagg.PhaseOutput, GroupsTotal: s.groups, BytesSpilled: s.spilled}
	took := e.expected(last)
	merge, order := took[stepMerging]*s.slower, took[stepOrdering]*s.slower
	truth = s.read + merge
	if s.ordered {
		truth += s.silent + order
	}
	const partitions = 512
	for second := range int(math.Ceil(truth)) {
		p, at := gagg.Progress{Phase: gagg.PhaseScan, BytesTotal: 1e9, GroupsTotal: s.groups}, float64(second)
		switch {
		case at < s.read:
			x := at / s.read
			if s.readingSlows {
				x = math.Min(1.25*x, 0.5+(x-0.4)/1.2)
			}
			p.BytesDone, p.BytesSpilled = int64(x*1e9), int64(x*float64(s.spilled))
		case at < s.read+merge:
			p = last
			p.Partitions, p.PartitionsMerged = partitions, int(partitions*(at-s.read)/merge)
		default:
			p = last
			p.Partitions, p.PartitionsMerged = partitions, partitions
			p.Groups = int64(math.Max(at-s.read-merge-s.silent, 0) / order * float64(s.groups))
		}
		estimates = append(estimates, e.total(p, time.Duration(second)*time.Second).Seconds())
	}
	return truth, estimates
}

// A limit makes ordering short, and leaves merging as it is.
func TestEstimateOfLimit(t *testing.T) {
	p := gagg.Progress{Phase: gagg.PhaseScan, BytesDone: 50, BytesTotal: 100, GroupsTotal: 20e6}
	all, few := estimator{threads: 2, ordered: true}, estimator{threads: 2, ordered: true, most: 3, keep: 10}
	plain := estimator{threads: 2}
	a, f, m := all.total(p, 10*time.Second), few.total(p, 10*time.Second), plain.total(p, 10*time.Second)
	if a < 30*time.Second || f > m+time.Second || f < m {
		t.Errorf("all groups %v, three %v, in no order %v", a, f, m)
	}
}

// Of an input whose size nobody knows nothing is estimated.
func TestNoEstimate(t *testing.T) {
	e := estimator{threads: 1}
	if got := e.total(gagg.Progress{RowsDone: 5}, time.Minute); got != 0 {
		t.Errorf("%v", got)
	}
}
