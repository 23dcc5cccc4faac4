package gagg_test

import (
	"sync"
	"testing"

	"github.com/gagg-dev/gagg"
)

// lastProgress keeps the most of what is told.
type lastProgress struct {
	mu       sync.Mutex
	at       gagg.Progress
	scanning bool // groups were told of, or partitions, while the input was read
}

func (l *lastProgress) Progress(p gagg.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scanning = l.scanning || p.Phase == gagg.PhaseScan && (p.Groups > 0 || p.Partitions > 0)
	if p.PartitionsMerged >= l.at.PartitionsMerged && p.Groups >= l.at.Groups {
		l.at = p
	}
}

// An observer sees a run through: all bytes, all partitions, all groups, and what was spilled.
func TestObserver(t *testing.T) {
	file := randomFile(t, 300_000)
	for _, order := range [][]string{nil, {"x"}} {
		var l lastProgress
		q := gagg.Query{From: gagg.Files(file), By: []string{"k", "x"}, Aggs: []gagg.Agg{gagg.CountAll()}, OrderBy: order}
		_, s, err := answerStats(t, q, gagg.Options{Threads: 2, Device: "cpu", MemoryLimit: 12 << 20, TempDir: t.TempDir(), Observer: &l})
		if err != nil {
			t.Fatal(err)
		}
		p := l.at
		if p.Phase != gagg.PhaseOutput || p.BytesDone != p.BytesTotal || p.RowsDone != s.Rows || l.scanning {
			t.Errorf("order %v: %+v of %+v", order, p, s)
		}
		if p.Partitions < 2 || p.PartitionsMerged != p.Partitions || p.Groups != s.Groups || p.BytesSpilled != s.SpilledBytes || s.SpilledBytes == 0 {
			t.Errorf("order %v: %+v of %+v", order, p, s)
		}
		if off := float64(p.GroupsTotal) / float64(s.Groups); order != nil && off != 1 || off < 0.9 || off > 1.1 {
			t.Errorf("order %v: about %d groups of %d", order, p.GroupsTotal, s.Groups)
		}
	}
}
