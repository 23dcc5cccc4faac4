package secondpass_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/secondpass"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

var lifeLayout = ega.Layout{Hash: true, KeyWords: 1, Ops: []combine.Op{combine.Add}}

// bucketLife is two buckets, the first of which fills the table and comes back in parts.
func bucketLife(c *cuda.Context, host budget.Lender) (err error) {
	l := lifeLayout
	b, err := secondpass.New(c, secondpass.Config{Layout: l, Device: 7000, Host: host})
	if err != nil {
		return err
	}
	defer func() {
		if err == nil && c.Lost() != nil {
			err = errors.New("nobody was told that the device was lost")
		}
		err = errors.Join(err, b.Close())
	}()
	random := rand.New(rand.NewPCG(1, 3))
	for _, groups := range []int{200, 5} {
		rows := egatest.Rows(random, &l, 200, func(i int) uint64 { return uint64(i % groups) })
		if _, _, err := bucket(c, b, l.Stride(), rows, 0); err != nil {
			return err
		}
	}
	if s := b.Stats(); s.Full != 1 || s.Rounds < 4 {
		return fmt.Errorf("the buckets do not test what they should: %+v", s)
	}
	return nil
}

// Whichever driver call fails, the error says so, nothing stays open, and the budget is as before.
func TestPassFaults(t *testing.T) {
	r := newRig(t)
	host := budget.New(budget.Memory, 0)
	step := 1
	if testing.Short() {
		step = 7
	}
	gputest.FailCalls(t, step, func() error { return bucketLife(r.Thread.Context(), host) }, func() {
		if held := host.Reserved(); held != 0 {
			t.Fatalf("%d bytes of the host are not given back", held)
		}
	})
}

// A device that is lost, at any call before the last group has come, is reported as lost; no thread
// stays locked.
func TestPassLost(t *testing.T) {
	if !gputest.Emulated() {
		t.Skip("faults are the emulator's")
	}
	emulator, _ := emu.Control()
	step := 5
	if testing.Short() {
		step = 40
	}
	for nth := 1; ; nth += step {
		c, err := egatest.OpenContext()
		if err != nil {
			t.Fatal(err)
		}
		const illegalAddress = 700 // CUDA_ERROR_ILLEGAL_ADDRESS
		emulator.Fault(emu.AnyCall, nth, illegalAddress, false)
		err = bucketLife(c, nil)
		lost := c.Lost()
		if locked := cuda.LockedThreads(); locked != 0 {
			t.Fatalf("call %d loses the device: %d threads are locked", nth, locked)
		}
		if err != nil && !errors.Is(err, cuda.ErrLost) {
			t.Errorf("call %d loses the device: %v", nth, err)
		}
		if err := c.Close(); err != nil && lost != nil {
			t.Error(err)
		}
		emulator.Reset()
		if lost == nil {
			return
		}
	}
}

// openContext is the device outside of gputest, as it may be lost.
