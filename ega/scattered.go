package ega

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/partition"
)

// bucketPlan is how rows are divided into buckets for blocks.
type bucketPlan struct {
	bits    uint   // of the hash: 2^bits buckets
	slots   uint32 // of a block's table
	threads uint32
}

const (
	// bucketLoad is how full a block's table is on average. Buckets vary by the square
	// root of their groups, so that hardly any has more groups than slots. A guess.
	bucketLoad = 0.6

	// bucketShare is how many blocks share a multiprocessor where tables need not be
	// larger: while some wait at a barrier, others read.
	bucketShare = 4

	// bucketSkew is how many times the rows of the average bucket one block reads. More are
	// read by all blocks together. A guess.
	bucketSkew = 4

	// bucketLeast is how many rows one block reads in any case. A guess.
	bucketLeast = 1 << 16

	// bucketMany is how many buckets a multiprocessor has at least, if there are rows for
	// them: fewer would leave some of its blocks idle. A guess.
	bucketMany = 4

	// bucketRows is how many rows are worth a bucket of their own. A guess.
	bucketRows = 1 << 13
)

// planBuckets decides into how many buckets rows of so many groups are divided:
// as few as tables in shared memory and the number of multiprocessors allow, and by one scatter
// rather than two.
func planBuckets(l *Layout, d cuda.Device, rows, groups uint64) bucketPlan {
	p := planTables(l, d, groups)
	busy := bits.Len(uint(bucketMany*d.Multiprocessors - 1))
	p.bits = max(p.bits, uint(min(busy, bits.Len64(rows/bucketRows))))
	return p
}

// planTables looks at the tables only.
func planTables(l *Layout, d cuda.Device, groups uint64) bucketPlan {
	var p bucketPlan
	for share := bucketShare; share >= 1; share /= 2 {
		if p = planShare(l, d, groups, share); p.bits <= kernels.ScatterMostBits {
			return p
		}
	}
	p = planShare(l, d, groups, bucketShare)
	p.bits = min(p.bits, partition.MaxDeviceBits)
	return p
}

// planShare is the plan for so many blocks a multiprocessor.
func planShare(l *Layout, d cuda.Device, groups uint64, share int) bucketPlan {
	memory := min(d.SharedPerMultiprocessor/cuda.Size(share), d.SharedPerBlock)
	slots := SharedSlots(l, memory-min(memory, kernels.EgaStaticShared))
	return bucketPlan{bits: bucketBits(groups, slots), slots: slots, threads: uint32(kernels.EgaSharedThreads / share)}
}

// bucketBits is how many bits divide groups into buckets for tables of so many slots.
func bucketBits(groups uint64, slots uint32) uint {
	room := uint64(bucketLoad*float64(slots)) + 1
	return uint(bits.Len64((groups+room-1)/room - min(1, groups)))
}

// ScatteredConfig is the shape of a Scattered.
type ScatteredConfig struct {
	Rows   uint32 // the most at once
	Groups uint64 // an estimate of how many they have
	Skip   uint32 // see TableConfig
	// LeftSlots is the size of the Table for buckets that are left; 0: 2^20.
	LeftSlots uint32
}

// Scattered aggregates rows by way of buckets: a scatter by hash in device
// memory (partition.DeviceScatter), then Buckets. What these leave, buckets that hold
// frequent keys or too many groups, all blocks combine in a Table.
type Scattered struct {
	k       *Kernels
	plan    bucketPlan
	moves   *kernels.EgaScatter
	scatter *partition.DeviceScatter
	buckets *Buckets
	left    *Table
}

// NewScattered allocates what it needs beside the rows. k is kept, not owned.
// Errors: cuda.ErrOutOfMemory, and those of the layout: rows need their hash, or
// one key word.
func NewScattered(k *Kernels, c ScatteredConfig) (*Scattered, error) {
	if !k.Layout.Hash && k.Layout.KeyWords != 1 {
		return nil, fmt.Errorf("scattered: rows of %d key words without a hash", k.Layout.KeyWords)
	}
	s := &Scattered{k: k, plan: planBuckets(&k.Layout, k.device, uint64(c.Rows), min(c.Groups, uint64(c.Rows)))}
	if err := s.open(c); err != nil {
		return nil, errors.Join(fmt.Errorf("scattered: %w", err), s.Close())
	}
	return s, nil
}

func (s *Scattered) open(c ScatteredConfig) (err error) {
	if s.moves, err = kernels.LoadEgaScatter(s.k.thread); err != nil {
		return err
	}
	if s.scatter, err = partition.NewDeviceScatter(s.k.thread, s.moves, partition.DeviceRows{
		Stride: s.k.Layout.Stride(), Keyed: !s.k.Layout.Hash, Skip: uint(c.Skip), Bits: s.plan.bits,
	}, int(c.Rows)); err != nil {
		return err
	}
	if s.buckets, err = NewBuckets(s.k, BucketsConfig{
		Buckets: 1 << s.plan.bits, Slots: s.plan.slots, Threads: s.plan.threads, Skip: c.Skip + uint32(s.plan.bits),
		MostRows: max(bucketLeast, bucketSkew*uint64(c.Rows)>>s.plan.bits),
	}); err != nil {
		return err
	}
	if c.LeftSlots == 0 {
		c.LeftSlots = 1 << 20
	}
	s.left, err = NewTable(s.k, TableConfig{Slots: c.LeftSlots, Skip: c.Skip, Probes: leftProbes})
	return err
}

// leftProbes keeps a row from looking at all of a full Table. A guess.
const leftProbes = 1 << 10

// Run aggregates the first n rows of rows and waits for that. other is as
// large; both are written. The groups are in Result.Rows, a part of one of them.
//
// Errors: ErrRestFull, if the buckets left have many more groups than the
// Table for them; all rows are then still in Result.Rows, in another order, and may
// go another way. Else those of the driver.
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
		r, err = s.runLeft(stream, divided, left, r)
	}
	if errors.Is(err, ErrRestFull) {
		return Result{Rows: divided.Rows}, err
	}
	r.Rows = r.Rows.Slice(0, cuda.Size(r.Groups)*s.k.Layout.RowBytes())
	return r, err
}

// runLeft combines the buckets left and appends their groups to those of r.
func (s *Scattered) runLeft(stream *cuda.Stream, d partition.Divided, left []uint32, r Result) (Result, error) {
	from, err := s.scatter.From(d)
	if err != nil {
		return r, err
	}
	if err := s.left.Clear(stream); err != nil {
		return r, err
	}
	row := s.k.Layout.RowBytes()
	for _, run := range runsOf(left) {
		first, last := from[run.first], from[run.last+1]
		r.Probed += uint64(last - first)
		rows := d.Rows.Slice(cuda.Size(first)*row, cuda.Size(last)*row)
		if err := s.left.AddShared(stream, rows, uint64(last-first), uint64(s.left.view.Slots)); err != nil {
			return r, err
		}
	}
	return s.appendLeft(stream, r)
}

// appendLeft collects the Table behind the groups of r.
func (s *Scattered) appendLeft(stream *cuda.Stream, r Result) (Result, error) {
	row := s.k.Layout.RowBytes()
	if err := s.left.Collect(stream, r.Rows.Slice(cuda.Size(r.Groups)*row, r.Rows.Size)); err != nil {
		return r, err
	}
	if err := stream.Synchronize(); err != nil {
		return r, err
	}
	counts, err := s.left.Count()
	r.Groups += counts.Groups
	return r, err
}

// bucketRun is buckets next to each other.
type bucketRun struct{ first, last uint32 }

// runsOf puts neighbours together, so that many buckets are few launches.
func runsOf(buckets []uint32) (runs []bucketRun) {
	for _, b := range slices.Sorted(slices.Values(buckets)) {
		if n := len(runs); n > 0 && runs[n-1].last+1 == b {
			runs[n-1].last = b
		} else {
			runs = append(runs, bucketRun{b, b})
		}
	}
	return runs
}

// Close frees what it owns. A second call does nothing.
func (s *Scattered) Close() error {
	var errs []error
	if s.left != nil {
		errs = append(errs, s.left.Close())
	}
	if s.buckets != nil {
		errs = append(errs, s.buckets.Close())
	}
	if s.scatter != nil {
		errs = append(errs, s.scatter.Close())
	}
	if s.moves != nil {
		errs = append(errs, s.moves.Close())
	}
	s.left, s.buckets, s.scatter, s.moves = nil, nil, nil, nil
	return errors.Join(errs...)
}
