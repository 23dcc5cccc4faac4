package firstpass_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// leastPinned is the smallest buffer that readers and writers do with.
const leastPinned = 64 << 10

// Where the host allows no large buffers smaller ones do, and one where it allows no second; below
// that the error is the budget's. In core they are a reader's, else the writers'.
func TestPassShortHost(t *testing.T) {
	l := passLayouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 30_000, func(i int) uint64 { return uint64(i) })
	refused := budgettest.Refused()
	for _, c := range []struct {
		name   string
		device int64
		each   int64 // the most that is granted at once
		large  int   // how many requests of more than a slot are granted
		want   *budget.Error
	}{
		{"in core/small", 8 << 20, leastPinned, 4, nil},
		{"in core/too small", 8 << 20, leastPinned - 1, 4, refused},
		{"in core/none", 8 << 20, 8 << 20, 1, refused},
		{"evicted/small", 700_000, leastPinned, 100, nil},
		{"evicted/one", 700_000, 8 << 20, 1, nil},
		{"evicted/too small", 700_000, leastPinned - 1, 100, refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			const slot = 20_000
			p := passRig{bits: 1, config: firstpass.Config{Layout: l, Streams: 2, Depth: 2, SlotBytes: slot, Device: c.device, Writers: 3}}
			p.grant = func(n int64) error {
				if n > slot {
					if n > c.each || c.large == 0 {
						return refused
					}
					c.large--
				}
				return nil
			}
			err := p.run(r.Thread.Context(), rows)
			if c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if c.want == nil {
				p.check(t, rows)
			}
		})
	}
}

// A panic while rows are written ends the pass with an error, and not the process.
func TestPassWritePanics(t *testing.T) {
	r := newRig(t)
	l := passLayouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 30_000, func(i int) uint64 { return uint64(i) })
	p := passRig{config: firstpass.Config{Layout: l, Streams: 2, Depth: 2, SlotBytes: 20_000, Device: 700_000, Writers: 2}}
	p.write = func(int, []uint64) error { panic("no bucket") }
	var e *invariant.PanicError
	if err := p.run(r.Thread.Context(), rows); !errors.As(err, &e) || e.Value != "no bucket" {
		t.Errorf("%v", err)
	}
}
