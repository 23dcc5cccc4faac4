package gpu

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/decode"
)

// batches is what became of the batches of a run (BATCH-ONCE).
type batches struct {
	mu       sync.Mutex
	changed  sync.Cond
	underWay int
	list     []int // units that are to be read
	stats    BatchStats
}

// BatchStats counts the batches of a run.
type BatchStats struct {
	Batches, Units, Rows int64            // whose rows devices made
	Bytes                int64            // of those batches
	Declined             map[string]int64 // units that workers read after all, by the reason
}

// DeclinedUnits is how many units were declined, for any reason.
func (s *BatchStats) DeclinedUnits() (n int64) {
	for _, units := range s.Declined {
		n += units
	}
	return n
}

// Join adds the batches of another run over the same input. Rows are those that devices made for
// both, at most.
func (s *BatchStats) Join(of BatchStats) {
	s.Batches, s.Units, s.Rows, s.Bytes = s.Batches+of.Batches, s.Units+of.Units, min(s.Rows, of.Rows), s.Bytes+of.Bytes
	for why, units := range of.Declined {
		if s.Declined == nil {
			s.Declined = map[string]int64{}
		}
		s.Declined[why] += units
	}
}

// Batches is what became of the batches so far.
func (d *Devices) Batches() BatchStats {
	p := &d.batches
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Declined = maps.Clone(s.Declined)
	return s
}

func (p *batches) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.underWay++
}

// addBatch counts a batch that was aggregated, without the rows that the filter drops.
func (p *batches) addBatch(batch *decode.Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Batches++
	p.stats.Units += int64(len(batch.Units()))
	p.stats.Rows += int64(batch.Rows())
	p.stats.Bytes += int64(batch.Size())
	p.end()
}

// decline notes the units of a batch that are to be read.
func (p *batches) decline(batch *decode.Batch, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, batch.Units()...)
	if p.stats.Declined == nil {
		p.stats.Declined = map[string]int64{}
	}
	p.stats.Declined[reason] += int64(len(batch.Units()))
	p.end()
}

// decline has the units of a batch read by workers: the devices have not been given them.
func (d *Devices) decline(p *decode.Batch, reason string) {
	d.config.Run.Unsent(p.Rows())
	d.batches.decline(p, reason)
}

// triedEnough is how many units may be declined before it matters whether more are taken. Each was
// packed in vain. Of thousands of units sixteen are a hundredth, and of fewer there is little to
// save.
const triedEnough = 16

// inVain reports whether most units are declined, so that reading others for devices would hardly
// pay: long strings, say, are in all of them.
func (p *batches) inVain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	declined := p.stats.DeclinedUnits()
	return declined > triedEnough && declined > p.stats.Units
}

func (p *batches) end() {
	p.underWay--
	p.changed.Broadcast()
}

// next is a unit to be read; -1: none is left, and no batch is under way. It waits for these until
// stopped says that nothing comes of them any more.
func (p *batches) next(stopped func() bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if n := len(p.list); n > 0 {
			unit := p.list[n-1]
			p.list = p.list[:n-1]
			return unit
		}
		if p.underWay == 0 || stopped() {
			return -1
		}
		p.changed.Wait()
	}
}

// wake has waiting goroutines check again.
func (p *batches) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed.Broadcast()
}

// Groups is about how many groups the devices have, if they alone make rows
// (cpu.Accelerator).
func (d *Devices) Groups() float64 {
	sum := uint64(0)
	if d.config.Decode.Plan != nil && d.ready.Load() {
		for _, p := range d.passes {
			n, err := p.TableGroups()
			if err != nil {
				return 0 // Finish will fail too
			}
			sum += n + p.Stats().RestRows
		}
	}
	return float64(sum)
}

// Declined waits until all batches that were submitted so far are aggregated or declined, and
// returns a unit of one that was declined (cpu.Accelerator). When a device has failed it waits for
// none: Finish tells why.
func (d *Devices) Declined(ctx context.Context) (int, error) {
	stop := context.AfterFunc(ctx, d.batches.wake)
	defer stop()
	unit := d.batches.next(func() bool { return ctx.Err() != nil || d.ctx.Err() != nil || d.failed() })
	if unit < 0 && ctx.Err() != nil {
		return -1, context.Cause(ctx)
	}
	return unit, nil
}

// failed reports whether a device takes no more jobs.
func (d *Devices) failed() bool {
	if !d.ready.Load() {
		return false
	}
	for _, p := range d.passes {
		select {
		case <-p.stopped:
			return true
		default:
		}
	}
	return false
}

// watch wakes the goroutines that wait for batches when a pass stops.
func (d *Devices) watch(p *pass) {
	p.stopped = p.Stopped()
	go func() {
		select {
		case <-p.stopped:
			d.batches.wake()
		case <-d.ctx.Done():
		}
	}()
}

// job is a batch on its way through a device (firstpass.Maker).
type job struct {
	*decode.Batch
	of    *Devices
	pass  *pass
	bound uint64 // rows with greater hashes are passed over (FIRST-KEPT)
}

// Make has kernels make the rows.
func (j *job) Make(s *cuda.Stream, in, work cuda.Span, out firstpass.Made) error {
	j.bound = j.of.config.Run.Bound()
	return j.pass.decoding.Make(s, j.Batch, j.bound, in, work, decode.Out(out))
}

// Filters reports whether rows may have been passed over.
func (j *job) Filters() bool { return j.bound != decode.NoBound || j.Batch.Filters() }

// Settled notes what became of them.
func (j *job) Settled(stop uint64, rows int) {
	switch stop {
	case 0:
		j.of.config.Run.Unsent(j.Rows() - rows)
		j.of.batches.addBatch(j.Batch)
	case firstpass.StopFull:
		j.of.decline(j.Batch, tooSmall)
	default:
		j.of.decline(j.Batch, decode.Reason(stop))
	}
}

// SubmitBatch has the device make the rows of a batch in the slot.
func (t *tile) SubmitBatch(p *decode.Batch) error {
	t.pass.devices.batches.begin()
	return t.submit(p, nil)
}

// tooSmall is why a device takes no batches of this run.
const tooSmall = "a GPU has too little memory"

// submit submits a batch, of which the bytes are in the slot or, unless it is nil, in memory.
func (t *tile) submit(of *decode.Batch, memory []byte) error {
	p := t.pass
	if of.Size() > len(t.Bytes()) {
		t.Release()
		p.devices.decline(of, tooSmall)
		return nil
	}
	if memory != nil {
		copy(t.Bytes(), memory[:of.Size()])
	}
	err := p.SubmitMade(t.slot, of.Size(), of.Rows(), &job{Batch: of, of: p.devices, pass: p})
	if errors.Is(err, firstpass.ErrListsFull) {
		t.Release()
		p.devices.decline(of, tooSmall)
		return nil
	}
	return failed(p.context, err)
}

// Bytes is the memory for a batch; none if the device takes none.
func (t *tile) Bytes() []byte {
	if t.pass.decoding == nil {
		return nil
	}
	return t.slot.Bytes()
}
