package gagg

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/spill"
)

// A Change changes what a run is tuned by, of which callers of the library see nothing.
type Change func(*tuning)

// Tuned is o for a run with changes.
func Tuned(o Options, changes ...Change) Options {
	t := o.tuning()
	for _, change := range changes {
		change(&t)
	}
	o.tuned = &t
	return o
}

// SpillFS has a run spill to fs.
func SpillFS(fs spill.FS) Change { return func(t *tuning) { t.spillFS = fs } }

// LeastMemory has a run begin under limits that leave a worker as little as so many bytes for its groups, so that few rows
// spill.
func LeastMemory(groups int64) Change {
	return func(t *tuning) { t.needs = workerNeeds{groups: groups} }
}

// LeastShared has distinct values held in a shared set, or paired with the numbers of their groups, from so many bytes of
// memory on.
func LeastShared(bytes int64) Change { return func(t *tuning) { t.shared = bytes } }

// PartLeast has row groups cut into parts of so few bytes.
func PartLeast(bytes int64) Change { return func(t *tuning) { t.partLeast = bytes } }

// PassLeast has devices aggregate partitions of so few rows, which would not pay, whatever is gained.
func PassLeast(rows int) Change { return func(t *tuning) { t.passLeast, t.bucketGain = rows, 0 } }

// BucketGain has devices aggregate partitions from such a gain on.
func BucketGain(gain float64) Change { return func(t *tuning) { t.bucketGain = gain } }

// Kept has rows that leave a device take so many bytes of pinned memory to stay in, where memory is not limited; 0: none
// stay, whatever the limit.
func Kept(bytes int64) Change { return func(t *tuning) { t.keptRows = bytes } }

// DevicePays has runs that may choose take a device as soon as one is ready, however small they are.
func DevicePays() Change {
	return func(t *tuning) {
		t.costs = deviceCosts{TableSmall: 1, TableLarge: 1, SmallTable: 1, LargeTable: 2, Link: math.Inf(1), Decode: math.Inf(1)}
		t.tile.MinRows = 100
	}
}

// FlipBit has the first row that a run gives to a device flipped in one bit of a word.
func FlipBit(word int) Change {
	return func(t *tuning) {
		t.offload = func(d *gpu.Devices) cpu.Offload { return &flipper{Offload: d, word: word} }
	}
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
	defer startDevices(o)()
	for l := (learnt{digits: map[int]int{}}); ; {
		p, err := prepare(ctx, q, o, l)
		if err != nil {
			return nil, func() int64 { return 0 }, classify(err)
		}
		r := &run{prepared: p, started: time.Now()}
		change(r)
		held = func() int64 { return cmp.Or(r.budget.Reserved(), r.budget.Committed()) }
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
