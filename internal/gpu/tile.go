package gpu

import (
	"context"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/streams"
)

// Tile waits for memory of a device for rows; of several devices each has its turn. While none is
// open there is none (cpu.Offload).
func (d *Devices) Tile() (cpu.Tile, error) {
	if !d.ready.Load() {
		return nil, d.refused()
	}
	p := d.passes[int(d.turn.Add(1))%len(d.passes)]
	slot, err := p.Slot(d.ctx)
	if err != nil {
		return nil, failed(p.context, err)
	}
	return &tile{p, slot, d.config.Layout.Stride()}, nil
}

// refused is why a run that needs devices cannot have them, once that is known.
func (d *Devices) refused() error {
	select {
	case <-d.opened:
		if d.config.Refused != nil {
			return d.err
		}
	default:
	}
	return nil
}

// Await waits for the devices if the run needs them (cpu.Offload).
func (d *Devices) Await() (must bool, err error) {
	if d.config.Refused == nil {
		return false, nil
	}
	select {
	case <-d.opened:
		return true, d.err
	case <-d.ctx.Done():
		return true, context.Cause(d.ctx)
	}
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
	return failed(t.pass.context, t.pass.MultiPass.Submit(t.slot, rows))
}

func (t *tile) Release() { t.pass.MultiPass.Release(t.slot) }
