package ondevice_test

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/partition/ondevice"
	"github.com/gagg-dev/gagg/partition/reference"
)

// Whichever driver call of a division fails, the error says so, and nothing stays
// open (gputest looks).
func TestDeviceFaults(t *testing.T) {
	r := newDeviceRig(t)
	l := faultRig{
		deviceRig: r, scatter: load(r, kerneltest.LoadEgaScatter), chain: load(r, kernels.LoadEgaScatterChain),
		src: r.write(rows(200, 2, skews[0].word)), dst: r.span(400),
	}
	pages := load(r, kernels.LoadPages)
	l.pool = gputest.Keep(t, func() (*gpumem.Pool, error) {
		return gpumem.New(r.Thread, pages, gpumem.Config{Pages: 20, PageBytes: 1024})
	})
	step := 1
	if testing.Short() {
		step = 5
	}
	for name, life := range map[string]func() error{"scatter": l.scatterLife, "chains": l.chainsLife} {
		t.Log(name)
		gputest.FailCalls(t, step, life, func() {
			r.Do(r.Stream.Synchronize()) // launches queued before the failure end first
			r.Do(l.pool.Reset())
		})
	}
}

type faultRig struct {
	*deviceRig
	scatter  *kerneltest.EgaScatter
	chain    *kernels.EgaScatterChain
	pool     *gpumem.Pool
	src, dst cuda.Span
}

// scatterLife makes a DeviceScatter of two levels, uses it, and closes it.
func (l *faultRig) scatterLife() (err error) {
	d := ondevice.Rows{Stride: 2, Bits: kernels.ScatterMostBits + 1}
	s, err := reference.NewDeviceScatter(l.Thread, l.scatter, d, 200)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stream.Synchronize(), s.Close()) }()
	divided, err := s.Scatter(l.Stream, l.src, l.dst, 200)
	if err != nil {
		return err
	}
	if err := l.Stream.Synchronize(); err != nil {
		return err
	}
	_, err = s.From(divided)
	return err
}

// chainsLife makes chains, fills, lists, gathers and frees them, and closes them.
func (l *faultRig) chainsLife() (err error) {
	c, err := ondevice.NewChains(l.Thread, l.chain, l.pool, ondevice.Rows{Stride: 2, Bits: 2}, 200)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stream.Synchronize(), c.Close()) }()
	if err := c.Append(l.Stream, l.src, 200); err != nil {
		return err
	}
	if err := l.Stream.Synchronize(); err != nil {
		return err
	}
	if _, err := c.Left(); err != nil {
		return err
	}
	sizes, err := c.Sizes()
	if err != nil {
		return err
	}
	if err := c.List(l.Stream, sizes); err != nil {
		return err
	}
	if err := c.Gather(l.Stream, 0, 0, sizes[0].Rows(c.PageRows()), l.dst); err != nil {
		return err
	}
	return c.Free(l.Stream, 0, 4)
}
