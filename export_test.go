package gagg

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/exec"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/spill"
)

// A Change changes what a run is tuned by, of which callers of the library see nothing.
type Change func(*exec.Tuning)

// Tuned is o for a run with changes.
func Tuned(o Options, changes ...Change) Options {
	t := exec.DefaultTuning()
	if o.tuned != nil {
		t = *o.tuned
	}
	for _, change := range changes {
		change(&t)
	}
	o.tuned = &t
	return o
}

// SpillFS has a run spill to fs.
func SpillFS(fs spill.FS) Change { return func(t *exec.Tuning) { t.SpillFS = fs } }

// LeastMemory has a run begin under limits that leave a worker as little as so many bytes for its
// groups, so that few rows spill.
func LeastMemory(groups int64) Change {
	return func(t *exec.Tuning) { t.Plan.Needs = plan.Needs{Groups: groups} }
}

// LeastShared has distinct values held in a shared set, or paired with the numbers of their groups,
// from so many bytes of memory on.
func LeastShared(bytes int64) Change { return func(t *exec.Tuning) { t.Plan.Shared = bytes } }

// CountsValues has values counted wherever they can be.
func CountsValues() Change {
	return func(t *exec.Tuning) { t.Plan.Counting = plan.Counting{Listed: math.Inf(1)} }
}

// CountsNone has no values counted.
func CountsNone() Change {
	return func(t *exec.Tuning) { t.Plan.Counting.From = math.MaxInt64 }
}

// CountsTried has runs begin to count values, which lists of each group's are counted as long as
// a group comes in so many rows, and others never.
func CountsTried(repeats float64) Change {
	return func(t *exec.Tuning) {
		t.Plan.Counting = plan.Counting{Repeats: math.MaxFloat64, TriedValues: math.Inf(1), TriedRepeats: repeats}
		t.Plan.Table.MinRows = 100
	}
}

// Parts has the CPU group by parts of the keys wherever it can.
func Parts() Change {
	return func(t *exec.Tuning) {
		t.Plan.Costs.PartsGain, t.Plan.Sampling.From, t.Plan.MostParts = math.Inf(-1), 0, math.Inf(1)
	}
}

// PartLeast has row groups cut into parts of so few bytes.
func PartLeast(bytes int64) Change { return func(t *exec.Tuning) { t.Plan.PartLeast = bytes } }

// PassLeast has devices aggregate partitions of so few rows, which would not pay, whatever is
// gained.
func PassLeast(rows int) Change { return func(t *exec.Tuning) { t.PassLeast, t.BucketGain = rows, 0 } }

// BucketGain has devices aggregate partitions from such a gain on.
func BucketGain(gain float64) Change { return func(t *exec.Tuning) { t.BucketGain = gain } }

// PinnedRetainBytes has rows that leave a device take so many bytes of pinned memory to stay in,
// where memory is not limited; 0: none stay, whatever the limit.
func PinnedRetainBytes(bytes int64) Change {
	return func(t *exec.Tuning) { t.PinnedRetainBytes = bytes }
}

// FewFrom has few groups leave devices at once where there are so many rows.
func FewFrom(rows int64) Change { return func(t *exec.Tuning) { t.FewFrom = rows } }

// ShareFrom has workers aggregate beside busy devices where there are so many rows.
func ShareFrom(rows int64) Change { return func(t *exec.Tuning) { t.ShareFrom = rows } }

// DevicePays has runs that may choose take a device as soon as one is ready, however small they
// are.
func DevicePays() Change {
	return func(t *exec.Tuning) {
		t.Plan.Costs = plan.Costs{TableSmall: 1, TableLarge: 1, SmallTable: 1, LargeTable: 2, Link: math.Inf(1), Decode: math.Inf(1), Settled: 1, Early: 1}
		t.Plan.Table.MinRows = 100
	}
}

// DeviceReconsidered is DevicePays where the CPU begins, and workers find it slow.
func DeviceReconsidered() Change {
	return func(t *exec.Tuning) {
		DevicePays()(t)
		t.Plan.Costs.Start, t.Plan.Costs.Clear = 1e-9, .5
	}
}

// DeviceNear is DeviceReconsidered where no device is predicted to pay, but nearly.
func DeviceNear() Change {
	return func(t *exec.Tuning) {
		DevicePays()(t)
		t.Plan.Costs.Start, t.Plan.Costs.Gain, t.Plan.Costs.Near = 1e-9, 1, math.Inf(1)
	}
}

// FlipBit has the first row that a run gives to a device flipped in one bit of a word.
func FlipBit(word int) Change {
	return func(t *exec.Tuning) {
		t.Accelerator = func(d *gpu.Devices) cpu.Accelerator { return &flipper{Accelerator: d, word: word} }
	}
}

// Watched has w see what runs do.
func Watched(w *Watch) Change {
	return func(t *exec.Tuning) { t.Watch = func(r exec.Running) { w.run.Store(&r) } }
}

// Watch sees the run that has begun last.
type Watch struct{ run atomic.Pointer[exec.Running] }

// Held is how much of its memory limit the run still holds: nothing once its rows are released, or
// Run has failed.
func (w *Watch) Held() int64 {
	if r := w.run.Load(); r != nil {
		return r.Held()
	}
	return 0
}

// Idle reports whether nothing of the result is being made any more, or will be within a moment.
func (w *Watch) Idle() bool {
	idle := make(chan struct{})
	go func() {
		w.run.Load().Makers.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return true
	case <-time.After(time.Second):
		return false
	}
}

// Progress returns when no device is being opened: as an observer it holds up the input until then.
func (w *Watch) Progress(Progress) {
	for w.run.Load().Opening() {
		time.Sleep(time.Millisecond)
	}
}

// RunHeld is Run, and tells what the run still holds of its memory limit when asked.
func RunHeld(ctx context.Context, q Query, o Options) (rows *Rows, held func() int64, err error) {
	var w Watch
	rows, err = Run(ctx, q, Tuned(o, Watched(&w)))
	return rows, w.Held, err
}

// RunAwaiting is RunHeld, but its input is held up until devices that may take part are open, or it
// is known that they will not be.
func RunAwaiting(ctx context.Context, q Query, o Options) (rows *Rows, held func() int64, err error) {
	var w Watch
	o.Observer = &w
	rows, err = Run(ctx, q, Tuned(o, Watched(&w)))
	return rows, w.Held, err
}

// flipper is an Accelerator whose first tile is damaged between the worker and the device.
type flipper struct {
	cpu.Accelerator
	word int
	once sync.Once
}

func (f *flipper) Tile() (cpu.Tile, error) {
	t, err := f.Accelerator.Tile()
	if t == nil || err != nil {
		return nil, err
	}
	return &flippedTile{t, f}, nil
}

type flippedTile struct {
	cpu.Tile
	of *flipper
}

func (t *flippedTile) Submit(rows int) error {
	t.of.once.Do(func() { t.Words()[t.of.word] ^= 1 })
	return t.Tile.Submit(rows)
}
