package gpu

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// tenRows reads units of ten rows.
type tenRows struct{}

func (tenRows) EncodedUnit(int) (parquetio.EncodedUnit, bool) {
	return parquetio.EncodedUnit{Rows: 10, Bytes: 96}, true
}

func (tenRows) CodeTexts([]int) {}

func (tenRows) ReadEncoded(int, []byte) ([]parquetio.EncodedChunk, bool, error) {
	return []parquetio.EncodedChunk{{Pages: []parquetio.EncodedPage{{Bytes: 80, Size: 80, Rows: 10}}, End: 96}}, true, nil
}

// decodingDevices is devices that nobody opens, which take batches of one column. drawn is the
// memory that is taken for them.
func decodingDevices(t *testing.T) (d *Devices, drawn *budget.Budget) {
	t.Helper()
	plan := &decode.Plan{HashWords: 1, Outputs: []decode.Output{
		{Field: -1, ParquetOutput: kernels.ParquetOutput{Form: kernels.ParquetValue, Physical: kernels.ParquetInt64, Words: 1}},
	}}
	if err := plan.Place(nil); err != nil {
		t.Fatal(err)
	}
	drawn = budget.New(budget.Memory, 0)
	d = &Devices{config: Config{Run: cpu.NewRun(cpu.Config{Budget: drawn})}}
	d.config.Decode = Decoding{Plan: plan, Limits: decode.Limits{Bytes: 4096, Rows: 100, Work: 1 << 20}}
	d.batches.changed.L = &d.batches.mu
	d.ctx, d.stop = context.WithCancel(t.Context())
	t.Cleanup(d.stop)
	context.AfterFunc(d.ctx, d.batches.wake)
	return d, drawn
}

// batchOf is a batch of units.
func batchOf(t *testing.T, d *Devices, memory []byte, units ...int) *decode.Batch {
	t.Helper()
	p := decode.NewBuilder(d.config.Decode.Plan, d.config.Decode.Limits, tenRows{}, nil)
	p.Begin(memory)
	for _, u := range units {
		if _, added, err := p.Add(u); added != encoded.AddedUnit || err != nil {
			t.Fatalf("unit %d: %v, %v", u, added, err)
		}
	}
	return p.End()
}

// allDeclined takes units until there are no more, as workers do.
func allDeclined(t *testing.T, d *Devices) (units []int) {
	t.Helper()
	for {
		u, err := d.Declined(t.Context())
		if err != nil {
			t.Error(err)
		}
		if u < 0 {
			slices.Sort(units)
			return units
		}
		units = append(units, u)
	}
}

// Workers get each unit that was declined once, and nobody goes before all batches are settled.
func TestBatches(t *testing.T) {
	d, _ := decodingDevices(t)
	memory := make([]byte, 4096)
	taken, declined := batchOf(t, d, memory, 0, 1, 2), batchOf(t, d, memory, 3, 4)
	d.batches.begin()
	d.batches.begin()
	var mu sync.Mutex
	var got []int
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			units := allDeclined(t, d)
			mu.Lock()
			defer mu.Unlock()
			got = append(got, units...)
		})
	}
	d.batches.decline(declined, "NULLs")
	ended := make(chan struct{})
	go func() {
		workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		t.Error("workers ended while a batch was under way")
	case <-time.After(10 * time.Millisecond):
	}
	d.batches.addBatch(taken)
	bounded.Receive(t, "the workers", ended)
	if slices.Sort(got); !slices.Equal(got, []int{3, 4}) {
		t.Errorf("units %v were declined", got)
	}
	if s := d.Batches(); s.Batches != 1 || s.Units != 3 || s.Rows != 30 || s.Bytes != int64(taken.Size()) || s.Declined["NULLs"] != 2 {
		t.Errorf("%+v", s)
	}
}

// Those who wait for batches go when the run ends, or when nothing comes of these any more.
func TestBatchesStopped(t *testing.T) {
	d, _ := decodingDevices(t)
	d.batches.begin()
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	time.AfterFunc(time.Millisecond, func() { cancel(over) })
	if u, err := d.Declined(ctx); u != -1 || !errors.Is(err, over) {
		t.Errorf("the run ended: unit %d, %v", u, err)
	}
	stopped := make(chan struct{})
	d.passes = []*pass{{stopped: stopped}}
	d.ready.Store(true)
	time.AfterFunc(time.Millisecond, func() {
		close(stopped)
		d.batches.wake()
	})
	if u, err := d.Declined(t.Context()); u != -1 || err != nil {
		t.Errorf("a pass stopped: unit %d, %v", u, err)
	}
	d.passes = nil
	time.AfterFunc(time.Millisecond, d.stop)
	if u, err := d.Declined(t.Context()); u != -1 || err != nil {
		t.Errorf("the devices are closed: unit %d, %v", u, err)
	}
}

// Where most units are declined no more are packed, after some tries.
func TestBatchesInVain(t *testing.T) {
	d, _ := decodingDevices(t)
	memory := make([]byte, 4096)
	one := batchOf(t, d, memory, 1)
	settle := func(n int, by func(*decode.Batch)) {
		for range n {
			d.batches.begin()
			by(one)
		}
	}
	decline := func(p *decode.Batch) { d.batches.decline(p, "NULLs") }
	for _, step := range []struct {
		taken, declined int
		want            bool
	}{{0, triedEnough, false}, {0, 1, true}, {triedEnough + 1, 0, false}, {0, 1, true}, {100, 50, false}} {
		settle(step.taken, d.batches.addBatch)
		settle(step.declined, decline)
		if got := d.batches.inVain(); got != step.want {
			t.Errorf("after %+v of %+v: %v", step, d.Batches(), got)
		}
	}
	settle(200, decline)
	if _, added, err := d.NewBuilder(tenRows{}, nil).Add(1); added != encoded.AddedNone || err != nil {
		t.Errorf("in vain: %v, %v", added, err)
	}
}
