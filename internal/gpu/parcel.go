package gpu

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/parcel"
)

// parcels is what became of the parcels of a run (PARCEL-ONCE).
type parcels struct {
	mu       sync.Mutex
	changed  sync.Cond
	underWay int
	list     []int // units that are to be read
	stats    ParcelStats
}

// ParcelStats counts the parcels of a run.
type ParcelStats struct {
	Parcels, Units, Rows int64            // whose rows devices made
	Bytes                int64            // of those parcels
	Declined             map[string]int64 // units that workers read after all, by the reason
}

// DeclinedUnits is how many units were declined, for whatever reason.
func (s *ParcelStats) DeclinedUnits() (n int64) {
	for _, units := range s.Declined {
		n += units
	}
	return n
}

// Parcels is what became of the parcels so far.
func (d *Devices) Parcels() ParcelStats {
	p := &d.parcels
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Declined = maps.Clone(s.Declined)
	return s
}

func (p *parcels) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.underWay++
}

// take notes a parcel that was aggregated.
func (p *parcels) take(parcel cpu.Parcel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Parcels++
	p.stats.Units += int64(len(parcel.Units()))
	p.stats.Rows += int64(parcel.Rows())
	p.stats.Bytes += int64(parcel.Size())
	p.end()
}

// decline notes the units of a parcel that are to be read.
func (p *parcels) decline(parcel cpu.Parcel, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, parcel.Units()...)
	if p.stats.Declined == nil {
		p.stats.Declined = map[string]int64{}
	}
	p.stats.Declined[reason] += int64(len(parcel.Units()))
	p.end()
}

// decline has the units of a parcel read by workers: the devices have not been given them.
func (d *Devices) decline(p cpu.Parcel, reason string) {
	d.config.CPU.Declined(p.Rows())
	d.parcels.decline(p, reason)
}

// triedEnough is how many units may be declined before it matters whether more are taken. Each was
// packed in vain. Of thousands of units sixteen are a hundredth, and of fewer there is little to
// save.
const triedEnough = 16

// inVain reports whether most units are declined, so that reading others for devices would hardly
// pay: long strings, say, are in all of them.
func (p *parcels) inVain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	declined := p.stats.DeclinedUnits()
	return declined > triedEnough && declined > p.stats.Units
}

func (p *parcels) end() {
	p.underWay--
	p.changed.Broadcast()
}

// next is a unit to be read; -1: none is left, and no parcel is under way. It waits for these until
// stopped says that nothing comes of them any more.
func (p *parcels) next(stopped func() bool) int {
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

// wake has those who wait look again.
func (p *parcels) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed.Broadcast()
}

// Groups is about how many groups the devices have, if they make rows that nobody else sees
// (cpu.Offload).
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

// Declined waits until all parcels that were submitted so far are aggregated or declined, and
// returns a unit of one that was declined (cpu.Offload). When a device has failed it waits for
// none: Finish tells why.
func (d *Devices) Declined(ctx context.Context) (int, error) {
	stop := context.AfterFunc(ctx, d.parcels.wake)
	defer stop()
	unit := d.parcels.next(func() bool { return ctx.Err() != nil || d.ctx.Err() != nil || d.failed() })
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

// watch has those who wait for parcels hear when a pass stops.
func (d *Devices) watch(p *pass) {
	p.stopped = p.Stopped()
	go func() {
		select {
		case <-p.stopped:
			d.parcels.wake()
		case <-d.ctx.Done():
		}
	}()
}

// NewPacker makes the packer of a worker, which reads by reader and has an encoder of its own.
func (d *Devices) NewPacker(reader decode.Reader, keys *key.Encoder) cpu.Packer {
	return packer{decode.NewPacker(d.config.Decode.Plan, d.config.Decode.Limits, reader, keys), d}
}

// packer is a decode.Packer for workers.
type packer struct {
	*decode.Packer
	of *Devices
}

func (p packer) Begin(memory []byte) bool {
	if len(memory) < p.of.config.Decode.Limits.Bytes {
		return false
	}
	p.Packer.Begin(memory)
	return true
}

func (p packer) Add(unit int) (int64, parcel.Added, error) {
	if p.of.parcels.inVain() {
		return 0, parcel.AddedNone, nil
	}
	return p.Packer.Add(unit)
}

func (p packer) Parcel() cpu.Parcel { return p.Packer.Parcel() }

// job is a parcel on its way through a device (firstpass.Maker).
type job struct {
	*decode.Parcel
	of   *Devices
	pass *pass
}

// Make has kernels make the rows.
func (j *job) Make(s *cuda.Stream, in, rows, work, stop cuda.Span) error {
	return j.pass.decoding.Make(s, j.Parcel, in, rows, work, stop)
}

// Settled notes what became of them.
func (j *job) Settled(stop uint64) {
	switch stop {
	case 0:
		j.of.parcels.take(j.Parcel)
	case firstpass.StopFull:
		j.of.decline(j.Parcel, tooSmall)
	default:
		j.of.decline(j.Parcel, decode.Reason(stop))
	}
}

// SubmitParcel has the device make the rows of a parcel in the slot.
func (t *tile) SubmitParcel(p cpu.Parcel) error {
	t.pass.devices.parcels.begin()
	return t.submit(p.(*decode.Parcel), nil)
}

// tooSmall is why a device takes no parcels of this run.
const tooSmall = "a GPU has too little memory"

// submit submits a parcel, of which the bytes are in the slot or, unless it is nil, in memory.
func (t *tile) submit(of *decode.Parcel, memory []byte) error {
	p := t.pass
	if of.Size() > len(t.Bytes()) {
		t.Release()
		p.devices.decline(of, tooSmall)
		return nil
	}
	if memory != nil {
		copy(t.Bytes(), memory[:of.Size()])
	}
	err := p.SubmitMade(t.slot, of.Size(), of.Rows(), &job{Parcel: of, of: p.devices, pass: p})
	if errors.Is(err, firstpass.ErrListsFull) {
		t.Release()
		p.devices.decline(of, tooSmall)
		return nil
	}
	return failed(p.context, err)
}

// Bytes is the memory for a parcel; none if the device takes none.
func (t *tile) Bytes() []byte {
	if t.pass.decoding == nil {
		return nil
	}
	return t.slot.Bytes()
}
