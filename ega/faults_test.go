package ega_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Whichever driver call fails, the error says so, and nothing stays open (gputest looks).
func TestFaults(t *testing.T) {
	for name, life := range map[string]func(*rig, []uint64) error{
		"table": tableLife, "single": singleLife, "scattered": scatteredLife, "left": leftLife,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if name == "left" && testing.Short() {
				t.Skip("too long under sanitizers")
			}
			// pairs, in fact
			rows := egatest.Rows(nil, &ega.Layout{KeyWords: 2}, 300, func(i int) uint64 { return uint64(i % 70) })
			gputest.FailCalls(t, 1, func() error { return life(r, rows) }, nil)
		})
	}
}

// tableLife aggregates pairs in a Table, from loading kernels to closing them.
func tableLife(r *rig, rows []uint64) (err error) {
	return r.life(rows, func(k *ega.Kernels, in, out cuda.Span, n uint32) (err error) {
		t, err := ega.NewTable(k, ega.TableConfig{Slots: 200})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, t.Close()) }()
		for _, step := range []func() error{
			func() error { return t.Clear(r.Stream) },
			func() error { return t.Add(r.Stream, in, uint64(n)) },
			func() error { return t.AddShared(r.Stream, in, uint64(n), 100) },
			func() error { return t.Collect(r.Stream, out) },
			r.Stream.Synchronize,
		} {
			if err := step(); err != nil {
				return err
			}
		}
		_, err = t.Count()
		return err
	})
}

func singleLife(r *rig, rows []uint64) error {
	return r.life(rows, func(k *ega.Kernels, in, _ cuda.Span, n uint32) (err error) {
		p, err := reference.NewSinglePass(k, reference.SinglePassConfig{Rows: n})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		if err := r.Stream.Copy(p.Tile(), in.Slice(0, p.Tile().Size)); err != nil {
			return err
		}
		_, err = p.Run(r.Stream, n)
		return err
	})
}

func scatteredLife(r *rig, rows []uint64) error {
	return r.life(rows, func(k *ega.Kernels, in, out cuda.Span, n uint32) (err error) {
		s, err := reference.NewScattered(k, reference.ScatteredConfig{Rows: n, Groups: 10_000, LeftSlots: 100})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		_, err = s.Run(r.Stream, in, out, n)
		return err
	})
}

// leftLife has more groups than a block's table holds, and more than the first Table for the rows
// left over.
func leftLife(r *rig, _ []uint64) error {
	rows := egatest.Rows(nil, &ega.Layout{KeyWords: 2}, 5000, func(i int) uint64 { return uint64(i) << 3 })
	return r.life(rows, func(k *ega.Kernels, in, out cuda.Span, n uint32) (err error) {
		s, err := reference.NewScattered(k, reference.ScatteredConfig{Rows: n, Groups: 1, LeftSlots: 100})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		result, err := s.Run(r.Stream, in, out, n)
		if err == nil && result.Groups != uint64(n) {
			err = fmt.Errorf("%d groups of %d", result.Groups, n)
		}
		return err
	})
}

// life gives f the kernels for pairs, rows in device memory, and as much of it.
func (r *rig) life(rows []uint64, f func(k *ega.Kernels, in, out cuda.Span, n uint32) error) (err error) {
	k, err := ega.Load(r.Thread, ega.Pairs)
	if err != nil {
		return err
	}
	memory, err := r.Thread.Alloc(cuda.Size(16 * len(rows)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	half := memory.Span().Size / 2
	in, out := memory.Span().Slice(0, half), memory.Span().Slice(half, 2*half)
	if err := r.Thread.Write(in, gputest.Bytes64(rows)); err != nil {
		return err
	}
	// After any failure, all kernels must have ended when the memory is freed.
	return errors.Join(f(k, in, out, uint32(len(rows)/2)), r.Stream.Synchronize())
}
