package gpu

import (
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/key"
)

// builder is the cpu.BatchBuilder of a worker. It keeps the memory that it fills until it submits
// or releases it.
type builder struct {
	devices *Devices
	builder *decode.Builder
	memory  BatchTile // nil: no batch has begun
}

// BatchTile is memory that a worker fills with a batch: a slot of a device, or the host's while
// none is ready. It is the device's again with Submit or Release.
type BatchTile interface {
	Bytes() []byte                         // none: the device takes no batches
	SubmitBatch(batch *decode.Batch) error // which has rows, and of which the bytes are these
	Release()
}

// anyTile is memory for rows or for a batch.
type anyTile interface {
	cpu.Tile
	BatchTile
}

// NewBuilder makes the builder of a worker, which reads by reader and has an encoder of its own.
func (d *Devices) NewBuilder(reader decode.Reader, keys *key.Encoder) cpu.BatchBuilder {
	return &builder{devices: d, builder: decode.NewBuilder(d.config.Decode.Plan, d.config.Decode.Limits, reader, keys)}
}

func (b *builder) Busy() bool { return b.devices.busy() }

func (b *builder) Begin() (bool, error) {
	t, err := b.devices.batchTile()
	if err != nil || t == nil {
		return false, err
	}
	if len(t.Bytes()) < b.devices.config.Decode.Limits.Bytes {
		t.Release()
		return false, nil
	}
	b.builder.Begin(t.Bytes())
	b.memory = t
	return true, nil
}

func (b *builder) Add(unit int) (int64, encoded.Added, error) {
	if b.devices.batches.inVain() {
		return 0, encoded.AddedNone, nil
	}
	return b.builder.Add(unit)
}

func (b *builder) RowBytes(unit int) float64 { return b.builder.RowBytes(unit) }

func (b *builder) Computes() bool { return b.devices.config.Decode.Plan.ComputesTexts() }

func (b *builder) Submit() error {
	t := b.memory
	b.memory = nil
	return t.SubmitBatch(b.builder.End())
}

func (b *builder) Release() {
	b.memory.Release()
	b.memory = nil
}
