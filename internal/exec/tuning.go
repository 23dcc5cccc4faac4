package exec

import (
	"cmp"
	"sync"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/spill"
)

// Tuning has the values that tests change for one run: sizes that small inputs would never reach,
// the file system of spill files, and how workers get devices.
type Tuning struct {
	Plan              plan.Tuning
	SpillFS           spill.FS                           // of spill files; nil: the system's
	PassLeast         int                                // cpu.Config.PassLeast
	BucketGain        float64                            // gpu.Config.Gain
	PinnedRetainBytes int64                              // gpu.Config.RetainBytes
	FewFrom           int64                              // gpu.Config.FewFrom
	ShareFrom         int64                              // input rows from which on cpu.Config.Share
	Accelerator       func(*gpu.Devices) cpu.Accelerator // how devices are given to the workers
	Tiles             func() (gpu.BatchTile, error)      // gpu.Config.Tiles
	// is called with each run that begins; nil: it is not
	Watch func(Running)
}

// DefaultTuning is that of all other runs.
func DefaultTuning() Tuning {
	return Tuning{
		Plan: plan.DefaultTuning(), PassLeast: cpu.DefaultPassLeast, BucketGain: feedback.DefaultBucketGain,
		// as much as rows take that are packed while devices open, and are gone when rows leave
		// these
		PinnedRetainBytes: mostEarly,
		FewFrom:           1 << 20, // so that tests of few rows read groups on devices
		ShareFrom:         1 << 20, // so that devices make the rows of such tests
		Accelerator:       func(d *gpu.Devices) cpu.Accelerator { return d },
	}
}

// Running is what tests see of a run, also once it has ended.
type Running struct {
	Held    func() int64    // bytes of the memory limit that are held; none when the run has ended (BUDGET-BACK)
	Opening func() bool     // devices are being opened that may take part
	Makers  *sync.WaitGroup // goroutines that make the result
}

// watched calls Watch with a run that begins.
func (r *run) watched() {
	if r.opt.Tuning.Watch == nil {
		return
	}
	r.opt.Tuning.Watch(Running{
		Held: func() int64 { return cmp.Or(r.budget.Reserved(), r.budget.Committed()) },
		Opening: func() bool {
			devices := r.current.Load().devices
			if devices == nil {
				return false
			}
			return devices.Opening()
		},
		Makers: &r.makers,
	})
}
