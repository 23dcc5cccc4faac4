package exec

import (
	"cmp"
	"slices"
	"sync"

	"github.com/gagg-dev/gagg/internal/cpu"
)

// samples are what workers have told last, one for each of them. One alone says little of all: a
// worker that waits for a moment tells of half the pace or less, and of some hundred samples of a
// run there is always one (docs/decisions/0028).
type samples struct {
	mu   sync.Mutex
	last []cpu.Sample // a ring
	told int
}

// How often each of the workers tells, about, before they are believed at all, and before their
// pace has settled: the first rows are slower than those that follow.
const (
	believed = 2
	settled  = 4
)

// add adds what one of so many workers has seen. It returns the sample with the median of the last
// paces, and how often each of them has told, about.
func (s *samples) add(seen cpu.Sample, workers int) (median cpu.Sample, rounds int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last) < workers {
		s.last = append(s.last, seen)
	} else {
		s.last[s.told%workers] = seen
	}
	s.told++
	byPace := slices.SortedFunc(slices.Values(s.last), func(a, b cpu.Sample) int {
		return cmp.Compare(a.Seconds*float64(b.Read), b.Seconds*float64(a.Read))
	})
	return byPace[len(byPace)/2], s.told / workers
}
