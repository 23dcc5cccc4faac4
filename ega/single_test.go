package ega_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// The buffers for L rows take L groups: a load factor of 1. Of these phase 1
// places as many as L balls hit of its bins.
func TestSinglePassFull(t *testing.T) {
	n := 1_000_000
	if gputest.Emulated() {
		n = 20_000
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		layout ega.Layout
		bins   float64 // slots of phase 1, of L
	}{
		{ega.Pairs, .5},
		{ega.Layout{Hash: true, KeyWords: 2, Ops: []combine.Op{combine.Add}}, 2 * 4 / (4*4 + 1.)},
	} {
		r := newRig(t)
		rows := egatest.Rows(random, &c.layout, n, func(int) uint64 { return random.Uint64() })
		p := gputest.Keep(t, func() (*reference.SinglePass, error) {
			return reference.NewSinglePass(r.Load(c.layout), reference.SinglePassConfig{Rows: uint32(n)})
		})
		r.Put(p.Tile(), rows)
		result, err := p.Run(r.Stream, uint32(n))
		r.Do(err)
		want := c.bins * (1 - math.Exp(-1/c.bins))
		if got := float64(result.Placed) / float64(n); result.Groups != uint64(n) || math.Abs(got-want) > .02 {
			t.Errorf("%d key words: %d groups of %d, %.3f placed, want %.3f", c.layout.KeyWords, result.Groups, n, got, want)
		}
	}
}

// The groups are the same in any order in which threads go on.
func TestSchedules(t *testing.T) {
	r := newRig(t)
	emulator, emulated := emu.Control()
	if !emulated {
		t.Skip("schedules are the emulator's")
	}
	random := rand.New(rand.NewPCG(5, 6))
	c := egatest.Case{Layout: egatest.EveryOp, Rows: egatest.Rows(random, &egatest.EveryOp, 400, func(int) uint64 { return random.Uint64N(30) * random.Uint64N(2) })}
	want, k := reference.Combine(&c.Layout, c.Rows), r.Load(c.Layout)
	for seed := range uint64(20) {
		emulator.Seed(seed)
		for _, strategy := range []func(*rig, *ega.Kernels, *egatest.Case) []uint64{byShared, byCrowded, bySingle, byBuckets} {
			if err := egatest.Difference(&c.Layout, strategy(r, k, &c), want); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}
