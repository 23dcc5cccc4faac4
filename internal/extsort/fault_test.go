package extsort

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/internal/spill/spilltest"
)

// faultTable is a table that is spilled in several passes by a budget of
// faultLimit bytes, with far rows.
func faultTable() *table { return wideTable(rand.New(rand.NewPCG(3, 3)), 20<<10, 30, false) }

const faultLimit = 48 << 10

// Whatever fails on disk, the result is right or the error says so, and
// nothing stays open or held.
func TestDiskFaults(t *testing.T) {
	tb := faultTable()
	want := tb.sorted(t)
	counting := spilltest.New()
	h := newHarness(t, tb, -1, faultLimit, 1, counting)
	if got, _, err := h.run(t.Context(), t, tb, 1); err != nil || !slices.Equal(got, want) {
		t.Fatalf("without faults: %v", err)
	}
	for _, c := range []struct {
		op    spilltest.Op
		fault spilltest.Fault
	}{
		{spilltest.Create, spilltest.Fault{Err: syscall.EMFILE}},
		{spilltest.Write, spilltest.Fault{Err: syscall.ENOSPC, Forever: true}},
		{spilltest.Write, spilltest.Fault{Err: syscall.EIO, Short: true}},
		{spilltest.Read, spilltest.Fault{Err: syscall.EIO}},
		{spilltest.Read, spilltest.Fault{Flip: true}},
	} {
		n := counting.Count(c.op)
		for at := 1; at <= n; at += max(1, n/8) {
			c.fault.Op, c.fault.N = c.op, at
			fs := spilltest.New(c.fault)
			h := newHarness(t, tb, -1, faultLimit, 1, fs)
			got, _, err := h.run(t.Context(), t, tb, 1)
			if err == nil && (fs.Injected() > 0 && c.op != spilltest.Create || !slices.Equal(got, want)) {
				t.Errorf("%+v: no error", c.fault)
			}
			if c.fault.Flip && err != nil && !errors.As(err, new(*spill.DamagedError)) {
				t.Errorf("%+v: %v", c.fault, err)
			}
			if errors.Is(c.fault.Err, syscall.ENOSPC) && !errors.Is(err, spill.ErrExhausted) {
				t.Errorf("%+v: %v", c.fault, err)
			}
			if fs.Opened() != 0 {
				t.Errorf("%+v: %d files are open", c.fault, fs.Opened())
			}
		}
	}
}

// countdown is a context that is cancelled when it has been asked so many
// times.
type countdown struct {
	context.Context
	cancel context.CancelFunc
	left   int
	asked  int
}

func (c *countdown) Err() error {
	c.asked++
	if c.left--; c.left == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// Wherever it is cancelled, sorting ends soon with the context's error and
// gives everything back.
func TestCancel(t *testing.T) {
	tb := faultTable()
	run := func(left int) (*countdown, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := &countdown{Context: ctx, cancel: cancel, left: left}
		h := newHarness(t, tb, -1, faultLimit, 1, nil)
		_, _, err := h.run(c, t, tb, 1)
		return c, err
	}
	c, err := run(-1)
	if err != nil {
		t.Fatal(err)
	}
	for left := 1; left <= c.asked; left += 1 + c.asked/100 {
		if again, err := run(left); !errors.Is(err, context.Canceled) || again.left < -2 {
			t.Errorf("cancelled at question %d of %d: %v, after %d more questions", left, c.asked, err, -again.left)
		}
	}
}

// Blocks that were read are free for others: several passes need no more disk
// than one, and a little.
func TestDiskIsUsedAgain(t *testing.T) {
	f64 := column.Type{Kind: column.Float64}
	tb := &table{terms: []Term{{Type: f64}}, cols: []column.Type{f64}}
	rng := rand.New(rand.NewPCG(1, 9))
	for range 120 {
		v := column.Vector{Type: f64, Len: 4096}
		for range v.Len {
			v.Float = append(v.Float, rng.NormFloat64())
		}
		tb.order, tb.out = append(tb.order, []column.Vector{v}), append(tb.out, []column.Vector{v})
	}
	written := int64(0)
	for _, share := range []float64{0, 0.85, 0.1} {
		h := newHarness(t, tb, -1, 512<<10, 1, nil)
		var err error
		if h.disk, err = spill.Open(spill.Config{Dir: t.TempDir(), Limit: int64(share * float64(written))}); err != nil {
			t.Fatal(err)
		}
		h.cfg.Spill = h.disk.File
		_, runs, err := h.run(t.Context(), t, tb, 1)
		switch {
		case share == 0:
			if written = h.disk.Written(); err != nil || runs < 2 {
				t.Fatalf("%d runs, %v", runs, err)
			}
		case (err == nil) != (share > 0.5) || err != nil && !errors.Is(err, spill.ErrExhausted):
			t.Errorf("with %g of what is written in all: %v", share, err)
		}
	}
}
