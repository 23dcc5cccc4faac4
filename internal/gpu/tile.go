package gpu

import (
	"context"
	"time"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/streams"
)

// Tile waits for memory of a device for rows. While none is ready it is memory of the host, or none
// (cpu.Accelerator).
func (d *Devices) Tile() (cpu.Tile, error) {
	t, err := d.tile()
	if err != nil || t == nil {
		return nil, err // and no tile that holds nil
	}
	return t, nil
}

// batchTile is Tile for a batch. When enough of them wait for the devices it waits for these too.
func (d *Devices) batchTile() (BatchTile, error) {
	if d.config.Tiles != nil {
		return d.config.Tiles()
	}
	if d.enoughEarly() {
		select {
		case <-d.opened:
		case <-d.ctx.Done():
			return nil, context.Cause(d.ctx)
		}
	}
	t, err := d.tile()
	if err != nil || t == nil {
		return nil, err
	}
	return t, nil
}

// tile is Tile for rows or a batch.
func (d *Devices) tile() (anyTile, error) {
	if d.ready.Load() {
		return tileOrError(d.slot())
	}
	d.awaitKept()
	if _, err := d.Opened(); err != nil {
		return nil, d.refused()
	}
	if t := d.earlyTile(); t != nil {
		return t, nil
	}
	if d.ready.Load() { // since a moment ago
		return tileOrError(d.slot())
	}
	return nil, nil
}

// keptReady is until when devices that are open are waited for: they mostly are ready in 3 to 8 ms,
// and a tile that is filled before takes as long, in memory that was not touched before, and is
// copied. They take longer where kernels have to be loaded.
const keptReady = 10 * time.Millisecond

// busy reports whether all devices have enough to do, or are not ready and will not soon be. More
// than a batch of each stream that waits would have them end later than the workers.
func (d *Devices) busy() bool {
	if !d.ready.Load() {
		return !d.config.Kept || time.Since(d.since) > keptReady
	}
	for _, p := range d.passes {
		if !p.Busy() {
			return false
		}
	}
	return true
}

// awaitKept waits for devices that will soon be ready.
func (d *Devices) awaitKept() {
	left := keptReady - time.Since(d.since)
	if !d.config.Kept || left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-d.opened:
	case <-timer.C:
	case <-d.ctx.Done():
	}
}

func tileOrError(t *tile, err error) (anyTile, error) {
	if err != nil {
		return nil, err // and no tile that holds nil
	}
	return t, nil
}

// slot waits for memory of a device; of several devices each has its turn.
func (d *Devices) slot() (*tile, error) {
	return d.passes[int(d.turn.Add(1))%len(d.passes)].takeSlot()
}

// takeSlot waits for memory of the device.
func (p *pass) takeSlot() (*tile, error) {
	slot, err := p.Slot(p.devices.ctx)
	if err != nil {
		return nil, failed(p.context, err)
	}
	return &tile{p, slot, p.devices.config.Layout.Stride()}, nil
}

// refused is why a run that needs devices cannot have them, once that is known.
func (d *Devices) refused() error {
	if _, err := d.Opened(); d.config.Refused != nil {
		return err
	}
	return nil
}

// Await waits for the devices if the run needs them, or has rows for them, and until these are
// there. If there will be no device, back are these rows (cpu.Accelerator).
func (d *Devices) Await() (must bool, back []cpu.Returned, err error) {
	must = d.config.Refused != nil
	if !must && !d.early.any() {
		return false, nil, nil
	}
	select {
	case <-d.opened:
	case <-d.ctx.Done():
		return must, nil, context.Cause(d.ctx)
	}
	switch {
	case d.err != nil && must:
		return true, nil, d.err
	case d.err != nil:
		return false, d.early.back(), nil
	}
	d.early.movers.Wait()
	return true, nil, d.early.err
}

// tile is a slot as words.
type tile struct {
	pass   *pass
	slot   *streams.Slot
	stride int
}

// Words is the memory for rows, a whole number of them.
func (t *tile) Words() []uint64 {
	b := t.slot.Bytes()
	n := len(b) / 8 / t.stride * t.stride
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

func (t *tile) Submit(rows int) error {
	return failed(t.pass.context, t.pass.Pass.Submit(t.slot, rows))
}

func (t *tile) Release() { t.pass.Pass.Release(t.slot) }
