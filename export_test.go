package gagg

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/spill"
)

// SetSpillFS has all runs of a test spill to fs. The test must not be
// parallel.
func SetSpillFS(t testing.TB, fs spill.FS) {
	t.Helper()
	before := spillFS
	spillFS = fs
	t.Cleanup(func() { spillFS = before })
}

// RunHeld is Run, and tells what the run still holds of its memory limit when
// asked: nothing once its rows are released, or Run has failed.
func RunHeld(ctx context.Context, q Query, o Options) (rows *Rows, held func() int64, err error) {
	return runHeld(ctx, q, o, func(*run) {})
}

// RunAwaiting is RunHeld, but its input is held up until devices that may take part are open, or it is known
// that they will not be.
func RunAwaiting(ctx context.Context, q Query, o Options) (rows *Rows, held func() int64, err error) {
	return runHeld(ctx, q, o, func(r *run) { r.opt.Observer = awaiting{r} })
}

func runHeld(ctx context.Context, q Query, o Options, change func(*run)) (rows *Rows, held func() int64, err error) {
	defer startDemanded(o)()
	for l := (learnt{digits: map[int]int{}}); ; {
		p, err := prepare(ctx, q, o, l)
		if err != nil {
			return nil, func() int64 { return 0 }, classify(err)
		}
		r := &run{prepared: p, started: time.Now()}
		change(r)
		held = func() int64 { return cmp.Or(r.budget.used.Load(), r.budget.held.Load()) }
		if err = r.aggregate(ctx); err == nil {
			return newRows(ctx, r), held, nil
		}
		more, err := r.retries(&l, err)
		if err = errors.Join(err, r.close()); !l.add(err) && !more {
			return nil, held, classify(err)
		}
	}
}

// awaiting is an observer that returns when no device is being opened.
type awaiting struct{ r *run }

func (a awaiting) Progress(Progress) {
	for devices := a.r.now.Load().devices; devices != nil; time.Sleep(time.Millisecond) {
		if pending, _ := devices.Opened(); !pending {
			return
		}
	}
}

// SetLeastMemory has the runs of a test begin under limits that leave a worker
// as little as groups bytes for its groups, so that few rows spill. The test
// must not be parallel.
func SetLeastMemory(t testing.TB, groups int64) {
	t.Helper()
	fixed, set, least := fixedWorker, fixedSet, leastGroups
	fixedWorker, fixedSet, leastGroups = 0, 0, groups
	t.Cleanup(func() { fixedWorker, fixedSet, leastGroups = fixed, set, least })
}

// SetLeastShared has distinct values held in a shared set, or paired with the numbers of their groups, from so many bytes of memory on. The test must not be
// parallel.
func SetLeastShared(t testing.TB, bytes int64) {
	t.Helper()
	before := leastShared
	leastShared = bytes
	t.Cleanup(func() { leastShared = before })
}

// SetPartLeast has row groups cut into parts of so few bytes. The test must not be parallel.
func SetPartLeast(t testing.TB, bytes int64) {
	t.Helper()
	before := partLeast
	partLeast = bytes
	t.Cleanup(func() { partLeast = before })
}

// SetPassLeast has devices aggregate partitions of so few rows, which would not pay, whatever is gained.
// The test must not be parallel.
func SetPassLeast(t testing.TB, rows int) {
	t.Helper()
	before := passLeast
	passLeast = rows
	t.Cleanup(func() { passLeast = before })
	SetBucketGain(t, 0)
}

// SetBucketGain has devices aggregate partitions from such a gain on. The test must not be parallel.
func SetBucketGain(t testing.TB, gain float64) {
	t.Helper()
	before := bucketGain
	bucketGain = gain
	t.Cleanup(func() { bucketGain = before })
}

// SetKept has rows that leave a device take so many bytes of pinned memory to stay in, where memory is not limited; 0: none stay,
// whatever the limit. The test must not be parallel.
func SetKept(t testing.TB, bytes int64) {
	t.Helper()
	before := keptRows
	keptRows = bytes
	t.Cleanup(func() { keptRows = before })
}

// SetDevicePays has runs that may choose take a device as soon as one is ready, however small they
// are. The test must not be parallel.
func SetDevicePays(t testing.TB) {
	t.Helper()
	costs, tile := defaultDeviceCosts, feedback.DefaultTileConfig
	defaultDeviceCosts = deviceCosts{TableSmall: 1, TableLarge: 1, SmallTable: 1, LargeTable: 2, Link: math.Inf(1), Decode: math.Inf(1)}
	feedback.DefaultTileConfig.MinRows = 100
	t.Cleanup(func() { defaultDeviceCosts, feedback.DefaultTileConfig = costs, tile })
}

// FlipBit has the next run that gives rows to a device do that with one bit flipped, of a word of the
// first row. The test must not be parallel.
func FlipBit(t testing.TB, word int) {
	t.Helper()
	before := offload
	offload = func(d *gpu.Devices) cpu.Offload { return &flipper{Offload: d, word: word} }
	t.Cleanup(func() { offload = before })
}

// flipper is an Offload whose first tile is damaged between the worker and the device.
type flipper struct {
	cpu.Offload
	word int
	once sync.Once
}

func (f *flipper) Tile() (cpu.Tile, error) {
	t, err := f.Offload.Tile()
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

// Idle reports whether nothing of the result is being made any more, or will be within a moment.
func (r *Rows) Idle() bool {
	idle := make(chan struct{})
	go func() {
		r.done.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return true
	case <-time.After(time.Second):
		return false
	}
}
