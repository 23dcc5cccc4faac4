package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gagg-dev/gagg"
)

// simulated is a run of steps that take some seconds, on a machine on which a step takes a multiple
// of the expected time.
type simulated struct {
	name         string
	ordered      bool
	read         float64 // seconds
	groups       int64
	spilled      int64
	slower       float64
	share        float64 // of processors that the run gets, all the time; 0: all
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
		{name: "ordered", ordered: true, read: 8, groups: 20e6, spilled: 500e6, slower: 1},
		{name: "ordered, a slower machine", ordered: true, read: 8, groups: 20e6, spilled: 500e6, slower: 2.5},
		{name: "ordered, a faster machine", ordered: true, read: 20, groups: 200e6, spilled: 9e9, slower: 0.8},
		{name: "ordered, beside other jobs", ordered: true, read: 20, groups: 20e6, spilled: 500e6, slower: 1, share: 0.3},
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
	e := estimator{threads: 2, ordered: s.ordered, write: 0.3e-6, share: s.share}
	last := gagg.Progress{Phase: gagg.PhaseOutput, GroupsTotal: s.groups, BytesSpilled: s.spilled}
	costs := e.costs(last)
	seconds := func(step int) float64 { return e.seconds(costs[step]) * s.slower }
	merge, runs, order := seconds(stepMerging), seconds(stepRuns), seconds(stepOrdering)
	truth = s.read + merge + runs + order
	const partitions = 512
	work := cost{all: costs[stepMerging].all * s.slower, one: costs[stepMerging].one * s.slower}
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
			p.Groups = int64(math.Max(at-s.read-merge-runs, 0) / order * float64(s.groups))
		}
		ran := 1 + math.Min(at, s.read)*e.threads*cmp.Or(s.share, 1)
		if at > s.read {
			ran += math.Min((at-s.read)/merge, 1) * (work.all + work.one)
		}
		had := worked{ran: time.Duration(ran * 1e9), waited: time.Duration(ran * 1e9 * (1/cmp.Or(s.share, 1) - 1))}
		estimates = append(estimates, e.total(p, time.Duration(second)*time.Second, had).Seconds())
	}
	return truth, estimates
}

// The same holds for the counters of real runs, each recorded on a machine with other jobs beside
// it. TestRecordEstimate writes such a file.
func TestEstimateRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/estimate/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { replay(t, file) })
	}
}

// replay compares the estimates over the counters of a recorded run with how long it took.
func replay(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	e, truth := estimator{}, 0.
	if _, err := fmt.Sscanf(lines[1], "threads %g ordered %t most %d keep %d", &e.threads, &e.ordered, &e.most, &e.keep); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(lines[len(lines)-1], "total %g", &truth); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[3 : len(lines)-1] { // behind the names of the counters
		var at, ran, waited float64
		var output bool
		p := gagg.Progress{Phase: gagg.PhaseScan}
		if _, err := fmt.Sscan(line, &at, &ran, &waited, &output, &p.BytesDone, &p.BytesTotal, &p.GroupsTotal, &p.BytesSpilled, &p.PartitionsMerged, &p.Partitions, &p.Groups, &e.write); err != nil {
			t.Fatal(line, err)
		}
		if output {
			p.Phase = gagg.PhaseOutput
		}
		seconds := func(s float64) time.Duration { return time.Duration(s * 1e9) }
		got := e.total(p, seconds(at), worked{seconds(ran), seconds(waited)}).Seconds()
		if off := got / truth; at >= 10 && (off < 2./3 || off > 4./3) {
			t.Errorf("after %.0f s of %.0f: %.0f", at, truth, got)
		}
		t.Logf("after %.0f s of %.0f: %.0f", at, truth, got)
	}
}

// A limit makes ordering short, and leaves merging as it is.
func TestEstimateOfLimit(t *testing.T) {
	p := gagg.Progress{Phase: gagg.PhaseScan, BytesDone: 50, BytesTotal: 100, GroupsTotal: 20e6}
	all, few := estimator{threads: 2, ordered: true}, estimator{threads: 2, ordered: true, most: 3, keep: 10}
	plain := estimator{threads: 2}
	a, f, m := all.total(p, 10*time.Second, worked{}), few.total(p, 10*time.Second, worked{}), plain.total(p, 10*time.Second, worked{})
	if a < 25*time.Second || f > m+time.Second || f < m {
		t.Errorf("all groups %v, three %v, in no order %v", a, f, m)
	}
}

// Nothing is estimated for an input of unknown size.
func TestNoEstimate(t *testing.T) {
	e := estimator{threads: 1}
	if got := e.total(gagg.Progress{RowsDone: 5}, time.Minute, worked{}); got != 0 {
		t.Errorf("%v", got)
	}
}
