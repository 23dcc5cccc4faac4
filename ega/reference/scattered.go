package reference

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/partition/ondevice"
	scattering "github.com/gagg-dev/gagg/partition/reference"
)

// ScatteredConfig is the shape of a Scattered.
type ScatteredConfig struct {
	Rows   uint32 // the most at once
	Groups uint64 // an estimate of how many they have
	Skip   uint32 // see ega.TableConfig
	// LeftSlots is the size of the Table for buckets that are left; 0: 2^20. A larger one is
	// made if it comes to that.
	LeftSlots uint32
}

// Scattered aggregates rows by way of buckets: a scatter by hash in device
// memory (partition/reference), then Buckets. What these leave, buckets that hold
// frequent keys or too many groups, all blocks combine in a Table.
type Scattered struct {
	k       launcher
	plan    bucketPlan
	scatter *scattering.DeviceScatter
	buckets *Buckets
	left    leftBuckets
}

// NewScattered allocates what it needs beside the rows. k is kept, not owned.
// Errors: cuda.ErrOutOfMemory, and those of the layout: rows need their hash, or
// one key word.
func NewScattered(k *ega.Kernels, c ScatteredConfig) (*Scattered, error) {
	if !scatters(&k.Layout) {
		return nil, fmt.Errorf("scattered: rows of %d key words without a hash", k.Layout.KeyWords)
	}
	s := &Scattered{k: newLauncher(k), plan: planBuckets(&k.Layout, k.Thread.Context().Device(), uint64(c.Rows), min(c.Groups, uint64(c.Rows)))}
	if err := s.open(c); err != nil {
		return nil, errors.Join(fmt.Errorf("scattered: %w", err), s.Close())
	}
	return s, nil
}

func (s *Scattered) open(c ScatteredConfig) (err error) {
	moves := kerneltest.NewEgaScatter(s.k.Thread.Context())
	if s.scatter, err = scattering.NewDeviceScatter(s.k.Thread, moves, ondevice.Rows{
		Stride: s.k.Layout.Stride(), Keyed: !s.k.Layout.Hash, Skip: uint(c.Skip), Bits: s.plan.bits,
	}, int(c.Rows)); err != nil {
		return err
	}
	if s.buckets, err = NewBuckets(s.k.Kernels, BucketsConfig{
		Buckets: 1 << s.plan.bits, Slots: s.plan.slots, Threads: s.plan.threads, Skip: c.Skip + uint32(s.plan.bits),
		MostRows: max(bucketLeast, bucketSkew*uint64(c.Rows)>>s.plan.bits),
	}); err != nil {
		return err
	}
	if c.LeftSlots == 0 {
		c.LeftSlots = 1 << 20
	}
	return s.left.open(s.k, ega.TableConfig{Slots: c.LeftSlots, Skip: c.Skip + uint32(s.plan.bits), Probes: leftProbes}, s.plan)
}

// scatters says whether rows can be scattered by hash: they have it, or one key word.
func scatters(l *ega.Layout) bool { return l.Hash || l.KeyWords == 1 }

// Run aggregates the first n rows of rows and waits for that. other is as
// large; both are written. The groups are in Result.Rows, a part of one of them.
//
// Errors: ega.ErrRestFull with cuda.ErrOutOfMemory, if the buckets left have many more groups than
// the Table for them, and there is no memory for one that suffices; all rows are then still in
// Result.Rows, in another order, and may go another way. Else those of the driver.
func (s *Scattered) Run(stream *cuda.Stream, rows, other cuda.Span, n uint32) (Result, error) {
	divided, err := s.scatter.Scatter(stream, rows, other, int(n))
	if err != nil {
		return Result{}, err
	}
	out := rows
	if divided.Rows == rows {
		out = other
	}
	if err := s.buckets.Aggregate(stream, divided.Rows, divided.From, 1<<s.plan.bits, out); err != nil {
		return Result{}, err
	}
	if err := stream.Synchronize(); err != nil {
		return Result{}, err
	}
	groups, left, err := s.buckets.Count()
	if err != nil {
		return Result{}, err
	}
	r := Result{Groups: groups, Rows: out}
	if len(left) > 0 {
		var from []uint32
		if from, err = s.scatter.From(divided); err == nil {
			r, err = s.left.combine(stream, divided.Rows, from, left, r)
		}
	}
	if errors.Is(err, ega.ErrRestFull) {
		return Result{Rows: divided.Rows}, err
	}
	r.Rows = r.Rows.Slice(0, cuda.Size(r.Groups)*s.k.Layout.RowBytes())
	return r, err
}

// Close frees what it owns. A second call does nothing.
func (s *Scattered) Close() error {
	var errs []error
	errs = append(errs, s.left.close())
	if s.buckets != nil {
		errs = append(errs, s.buckets.Close())
	}
	if s.scatter != nil {
		errs = append(errs, s.scatter.Close())
	}
	s.buckets, s.scatter = nil, nil
	return errors.Join(errs...)
}
