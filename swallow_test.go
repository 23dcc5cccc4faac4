package gagg

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/exec"
	"github.com/gagg-dev/gagg/internal/gpu"
)

// ErrSwallowed is how runs end that Swallow has taken from their device.
var ErrSwallowed = errors.New("swallowed")

// Swallowed is a device that keeps nothing.
type Swallowed struct {
	Rows, Batches atomic.Int64 // input rows; bytes of batches
	free          chan []uint64
	test          testing.TB
}

// Swallow makes a device that gives what workers make for it to nobody: what is left is what
// feeding one takes. Runs end with ErrSwallowed.
func Swallow(t testing.TB) *Swallowed {
	t.Helper()
	const tiles, bytes = 24, 16 << 20 // more than gpu.Decoding.Limits
	s := &Swallowed{free: make(chan []uint64, tiles), test: t}
	for range tiles {
		s.free <- make([]uint64, bytes/8)
	}
	return s
}

// Change has a run give what it makes to s.
func (s *Swallowed) Change(t *exec.Tuning) {
	t.Accelerator = func(*gpu.Devices) cpu.Accelerator { return s }
	t.Tiles = func() (gpu.BatchTile, error) { return s.tile(), nil }
}

func (s *Swallowed) Absent() bool                          { return false }
func (s *Swallowed) Opening() bool                         { return false }
func (s *Swallowed) Groups() float64                       { return 0 }
func (s *Swallowed) Declined(context.Context) (int, error) { return -1, nil }
func (s *Swallowed) Await() (bool, []cpu.Returned, error)  { return false, nil, ErrSwallowed }

// Tile waits until one is free.
func (s *Swallowed) Tile() (cpu.Tile, error) { return s.tile(), nil }

func (s *Swallowed) tile() *swallowedTile {
	return &swallowedTile{s, bounded.Receive(s.test, "a tile that is free", s.free)}
}

type swallowedTile struct {
	of    *Swallowed
	words []uint64
}

func (t *swallowedTile) Words() []uint64 { return t.words }
func (t *swallowedTile) Release()        { t.of.free <- t.words }

func (t *swallowedTile) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(t.words))), 8*len(t.words))
}

func (t *swallowedTile) Submit(rows int) error {
	t.of.Rows.Add(int64(rows))
	t.Release()
	return nil
}

func (t *swallowedTile) SubmitBatch(p *decode.Batch) error {
	t.of.Rows.Add(int64(p.Rows()))
	t.of.Batches.Add(int64(p.Size()))
	t.Release()
	return nil
}
