package gpumem_test

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Whichever driver call of a pool's life fails, the error says so, and nothing
// stays open (gputest looks).
func TestPoolFaults(t *testing.T) {
	thread := gputest.Open(t)
	k := gputest.Load(t, thread, kernels.LoadPages)
	gputest.FailCalls(t, 1, func() error { return poolLife(thread, k) }, nil)
}

// poolLife makes a pool, counts its pages, and closes it.
func poolLife(thread *cuda.Thread, k *kernels.Pages) (err error) {
	p, err := gpumem.New(thread, k, gpumem.Config{Pages: 100, PageBytes: 64, Parts: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	free, err := p.Free()
	if err == nil && free != p.Capacity() {
		return errors.New("pages are in use from the start")
	}
	return err
}
