package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// bench is the device with what all strategies share.
type bench struct {
	rig    *device.Rig
	k      *ega.Kernels
	make   *kerneltest.EgaBench
	stream *cuda.Stream
	rows   uint32

	source cuda.Span // the pairs
	work   cuda.Span // a copy, which strategies may spoil; room for a pair more
	other  cuda.Span // as large
	sum    cuda.Span

	opened []interface{ Close() error }
}

const pairBytes = 16

// keep adds what close closes, the last first.
func keep[T interface{ Close() error }](b *bench, made T, err error) (T, error) {
	if err == nil {
		b.opened = append(b.opened, made)
	}
	return made, err
}

func (b *bench) alloc(n cuda.Size) (cuda.Span, error) {
	m, err := b.rig.Thread.Alloc(n)
	if m, err = keep(b, m, err); err != nil {
		return cuda.Span{}, err
	}
	return m.Span(), nil
}

func newBench(rig *device.Rig, rows uint32) (*bench, error) {
	b := &bench{rig: rig, rows: rows}
	if err := b.open(); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bench) open() (err error) {
	if b.k, err = ega.Load(b.rig.Thread, ega.Pairs); err != nil {
		return err
	}
	if b.make, err = kerneltest.LoadEgaBench(b.rig.Thread); err != nil {
		return err
	}
	s, err := b.rig.Thread.NewStream()
	if b.stream, err = keep(b, s, err); err != nil {
		return err
	}
	for _, span := range []*cuda.Span{&b.source, &b.work, &b.other} {
		if *span, err = b.alloc((cuda.Size(b.rows) + 1) * pairBytes); err != nil {
			return err
		}
	}
	b.sum, err = b.alloc(8)
	return err
}

func (b *bench) close() error {
	var errs []error
	for i := len(b.opened) - 1; i >= 0; i-- {
		errs = append(errs, b.opened[i].Close())
	}
	b.opened = nil
	return errors.Join(errs...)
}

// restore makes work the pairs again.
func (b *bench) restore(s *cuda.Stream) error {
	n := cuda.Size(b.rows) * pairBytes
	return s.Copy(b.work.Slice(0, n), b.source.Slice(0, n))
}

// distribution is how rows fall on groups.
type distribution struct {
	name string
	// share is the share of the group of number k, from 1, up to a factor; nil: all alike.
	share func(k, groups float64) float64
}

var (
	uniform       = distribution{name: "uniform"}
	distributions = []distribution{
		uniform,
		{"Zipf 0.5", func(k, _ float64) float64 { return math.Pow(k, -.5) }},
		{"Zipf 1", func(k, _ float64) float64 { return 1 / k }},
		{"Zipf 1.5", func(k, _ float64) float64 { return math.Pow(k, -1.5) }},
		{"self-similar", selfSimilar},
	}
)

// selfSimilar gives 80 % of the rows to 20 % of the groups, and so on within
// these (Gray et al. 1994): the share of all groups up to a share x of them is
// x^a with .2^a = .8.
func selfSimilar(k, groups float64) float64 {
	a := math.Log(.8) / math.Log(.2)
	return math.Pow(k/groups, a) - math.Pow((k-1)/groups, a)
}

// distributionOf is the one of that name; uniform if there is none.
func distributionOf(name string) distribution {
	for _, d := range distributions {
		if d.name == name {
			return d
		}
	}
	return uniform
}

// top is the share of the rows that the n most frequent groups have.
func (d distribution) top(n, groups uint64) float64 {
	if d.share == nil {
		return min(float64(n)/float64(groups), 1)
	}
	part, all := 0.0, 0.0
	for k := range groups {
		all += d.share(float64(k+1), float64(groups))
		if k < n {
			part = all
		}
	}
	return part / all
}

// fill makes the pairs.
func (b *bench) fill(d distribution, groups uint64) (err error) {
	n, grid := uint64(b.rows), kernels.Sweep(uint64(b.rows))
	if d.share == nil {
		err = b.make.Uniform(b.stream, grid, b.source.Ptr, n, groups, 1)
	} else {
		err = b.fillSkewed(d, groups, grid)
	}
	return errors.Join(err, b.stream.Synchronize())
}

// fillSkewed computes the cumulated shares here and puts them into work.
func (b *bench) fillSkewed(d distribution, groups uint64, grid cuda.Grid) error {
	sums, all := make([]float64, groups), 0.0
	for k := range sums {
		all += d.share(float64(k+1), float64(groups))
		sums[k] = all
	}
	raw := make([]byte, 0, 8*groups)
	for _, s := range sums {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(s/all))
	}
	if err := b.rig.Thread.Write(b.work.Slice(0, cuda.Size(len(raw))), raw); err != nil {
		return err
	}
	return b.make.Skewed(b.stream, grid, b.source.Ptr, uint64(b.rows), groups, b.work.Ptr, 1)
}

// repeat makes pairs that have just so many groups.
func (b *bench) repeat(groups uint64) error {
	err := b.make.Repeated(b.stream, kernels.Sweep(uint64(b.rows)), b.source.Ptr, uint64(b.rows), groups)
	return errors.Join(err, b.stream.Synchronize())
}

// check wants the groups to have all values: one for each row.
func (b *bench) check(rows cuda.Span, groups uint64) error {
	err := errors.Join(
		b.stream.Fill(b.sum, 0),
		b.make.Sum(b.stream, kernels.Sweep(groups), rows.Ptr, groups, b.sum.Ptr),
		b.stream.Synchronize())
	if err != nil {
		return err
	}
	var raw [8]byte
	if err := b.rig.Thread.Read(raw[:], b.sum); err != nil {
		return err
	}
	if sum := binary.LittleEndian.Uint64(raw[:]); sum != uint64(b.rows) {
		return fmt.Errorf("the values of %d groups add up to %d, not to %d", groups, sum, b.rows)
	}
	return nil
}
