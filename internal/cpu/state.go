package cpu

import (
	"math/bits"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/partition"
)

// Run is one run of a Config: what its workers and mergers share, and what changes while they work.
// It is used for one reading of an input. Group reads it; mergers merge the groups.
type Run struct {
	cfg         *Config
	accelerator Accelerator        // nil: there is none, or it turned out that it takes nothing
	reconsider  func(Sample) error // nil: the run does not reconsider
	inner       []*inner           // of each of Config.Distinct

	// rows is how many rows all workers are to see; -1: not known. It is Config.Rows until groups
	// of inner runs come in place of the input's rows.
	rows  int64
	limit *hashLimit                     // nil: all groups are wanted
	plan  atomic.Pointer[partition.Plan] // of level 0; nil: not chosen yet
	// input rows that the accelerator was given, as rows or groups
	sent  atomic.Int64
	back  []Returned   // rows that the accelerator does not take
	taken atomic.Int64 // how many of them workers have begun to place
	// beside an accelerator, rows with long strings went to buckets
	long    atomic.Bool
	sampled atomic.Bool  // a worker has begun to find out whether enough rows pass the filter
	few     atomic.Bool  // they do not, for the accelerator to decode them: Worker.sample
	sharing sharing      // units between workers and the accelerator
	longest atomic.Int64 // bytes of the longest text that workers have reported
	joined  bool         // no key is in two tables
	// about how many there are, from the end of the input on; 0: not known
	groups   float64
	expected atomic.Int64 // about how many there will be; 0: not known
	reserved budget.Reservations
}

// inner is an inner run.
type inner struct {
	*Distinct
	run     *Run
	sets    []*sharedSet // by number of the grouping set, as Distinct.Sets; nil: there is none
	memory  slabs        // of all of them
	members int64        // bytes that were taken for their members
	pairs   *pairing     // nil: there is none
}

// NewRun makes ready for a run. The configuration is its own from now on.
func NewRun(cfg Config) *Run {
	r := &Run{cfg: &cfg, rows: cfg.Rows}
	if cfg.Limit > 0 {
		r.limit = newHashLimit(cfg.Limit)
	}
	for i := range cfg.Distinct {
		d := &cfg.Distinct[i]
		r.inner = append(r.inner, &inner{Distinct: d, run: NewRun(*d.Config)})
	}
	return r
}

// Accelerate has an accelerator take part, from before workers begin. Rows of this query can be
// combined word by word.
func (r *Run) Accelerate(a Accelerator) { r.accelerator = a }

// Reconsider has workers ask, every so many rows, by what they have seen, whether the run should
// end: the error that ends returns ends it. It is called before they begin, of a run without an
// accelerator.
func (r *Run) Reconsider(ends func(Sample) error) { r.reconsider = ends }

// Expected is about how many groups there will be; 0: not known yet.
func (r *Run) Expected() int64 { return r.expected.Load() }

// choose returns the number of hash bits for partitions, which is the same for all workers: the
// first that asks decides, from how many groups it expects in all or, where nothing was counted
// (0), from an estimate of the groups among the rows it has seen, and from the bytes of their
// values, of which later rows are expected to bring as many.
func (r *Run) choose(estimate, expected float64, rows, total, values int64) uint {
	c := r.cfg
	switch {
	case expected == 0:
		expected = partition.Expected(estimate, rows, total, c.AtMost)
	case c.AtMost >= 0:
		expected = min(expected, float64(c.AtMost))
	}
	l := c.Level(expected)
	if total > rows && l.Groups > 0 {
		values = int64(float64(values) * float64(total) / float64(rows))
		l.GroupBytes += int64(float64(values) / l.Groups)
	}
	p := l.Plan()
	if c.Partitions > 0 {
		p.Bits = uint(bits.TrailingZeros(uint(c.Partitions)))
	}
	if r.plan.CompareAndSwap(nil, &p) {
		r.expected.Store(int64(expected))
	}
	return r.plan.Load().Bits
}

// LongestText is how many bytes the longest text has, if that is some megabytes.
func (r *Run) LongestText() int64 { return r.longest.Load() }

// Plan is how groups were divided into partitions; nil: they were not.
func (r *Run) Plan() *partition.Plan { return r.plan.Load() }
