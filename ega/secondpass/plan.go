package secondpass

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// Config is the shape of a Pass. Zero fields stand for defaults unless their comments differ.
type Config struct {
	Layout ega.Layout
	// Device is how many bytes of device memory this pass may take, above 0.
	Device int64
	// Host is the budget from which pinned memory is drawn; nil: there is no limit. The memory of
	// a lost context is not freed and stays drawn.
	Host budget.Lender
	// BufferBytes is the size of each of the two pinned buffers; it is less where Device is small.
	BufferBytes int
	// Load is how full the table gets.
	Load feedback.LoadConfig
}

func (c Config) withDefaults() Config {
	if c.BufferBytes == 0 {
		c.BufferBytes = DefaultBufferBytes
	}
	if c.Load == (feedback.LoadConfig{}) {
		c.Load = feedback.DefaultLoadConfig
	}
	return c
}

// Validate reports everything that is wrong with the configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	errs := []error{c.Layout.Validate(), c.Load.Validate()}
	if c.BufferBytes < 0 {
		errs = append(errs, fmt.Errorf("buffers: %d bytes", c.BufferBytes))
	}
	if least := (plan{slots: leastSlots, buffer: leastBuffer}).bytes(&c.Layout); c.Device < int64(least) {
		errs = append(errs, &ega.SmallError{Has: cuda.Size(max(c.Device, 0)), Need: least})
	}
	return errors.Join(errs...)
}

// plan is how a Pass divides its device memory.
type plan struct {
	slots  uint32 // of the table
	buffer uint32 // rows of each of the two buffers, at least 2
}

// makePlan gives the buffers the size that is asked for, within their share, and the table the
// rest. c is valid and has its defaults.
func makePlan(c *Config) plan {
	row, device := c.Layout.RowBytes(), cuda.Size(c.Device)
	p := plan{buffer: uint32(max(min(cuda.Size(c.BufferBytes), device/bufferShare)/row, leastBuffer))}
	p.slots = max(ega.TableSlots(&c.Layout, device-min(device, p.beside(&c.Layout))), leastSlots)
	return p
}

// bytes is the device memory that the plan needs.
func (p plan) bytes(l *ega.Layout) cuda.Size { return ega.TableBytes(l, p.slots) + p.beside(l) }

// beside is the part of that memory that is not the table's.
func (p plan) beside(l *ega.Layout) cuda.Size {
	return cuda.Allocated(p.bufferBytes(l), p.bufferBytes(l), deviceFacts)
}

// Bytes is the device memory with which a Pass of that shape certainly takes all rows of a bucket
// of that many rows, whatever their groups. c.Device does not matter.
func Bytes(c Config, rows int64) int64 {
	c = c.withDefaults()
	p := plan{slots: ega.MaxSlots, buffer: leastBuffer}
	p.slots = p.slotsFor(rows, c.Load.Full)
	// then all is bufferShare of them
	buffer := min(cuda.Size(c.BufferBytes), p.bytes(&c.Layout)/(bufferShare-2))
	p.buffer = uint32(max(buffer/c.Layout.RowBytes(), leastBuffer))
	return int64(p.bytes(&c.Layout))
}

// bufferBytes is the size of each buffer.
func (p plan) bufferBytes(l *ega.Layout) cuda.Size { return cuda.Size(p.buffer) * l.RowBytes() }

// slotsFor is how many slots a bucket of so many rows uses: all rows may be groups of their own,
// and fill at most a part `load` of them.
func (p plan) slotsFor(rows int64, load float64) uint32 {
	need := float64(rows)/load + 2 // 2: where the product with load is rounded down
	return uint32(min(max(need, leastSlots), float64(p.slots)))
}
