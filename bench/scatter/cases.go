package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/partition/ondevice"
)

// skews are the data of scatter_bench_fill.
var skews = []string{"uniform", "one", "zipf"}

// shape is what rows are divided and into how many partitions.
type shape struct {
	Stride int    `json:"stride"`
	Skew   string `json:"skew"`
	Bits   uint   `json:"bits"`
}

// shapes are those of the report: pairs by number of partitions and skew, then
// longer rows.
func shapes() (list []shape) {
	for _, bits := range []uint{0, 4, 6, 8, 9, 10, 11, 14} {
		list = append(list, shape{2, "uniform", bits})
	}
	for _, skew := range []string{"one", "zipf"} {
		for _, bits := range []uint{8, 11} {
			list = append(list, shape{2, skew, bits})
		}
	}
	for _, stride := range []int{3, 4, 6, 8, 12} {
		for _, bits := range []uint{8, 11} {
			list = append(list, shape{stride, "uniform", bits})
		}
	}
	return list
}

// tried are the shapes that other tiles and pages are tried with.
var tried = []shape{{2, "uniform", 8}, {2, "uniform", 11}, {2, "zipf", 8}, {8, "uniform", 8}}

// tiles, in rows, that are tried.
var tiles = []int{512, 1024, 2048, 3072, 4096}

// bench is what all cases share.
type bench struct {
	amounts
	thread  *cuda.Thread
	data    *kerneltest.ScatterBench
	scatter *kerneltest.EgaScatter
	chain   *kernels.EgaScatterChain
	pages   *kernels.Pages
	src     *cuda.Memory
	dst     *cuda.Memory
	close   closers
}

// closers closes in reverse order what was opened.
type closers []interface{ Close() error }

func (c *closers) Close() error {
	var err error
	for i := len(*c) - 1; i >= 0; i-- {
		err = errors.Join(err, (*c)[i].Close())
	}
	*c = nil
	return err
}

// open makes something that c closes.
func open[T interface{ Close() error }](c *closers, into *T, made T, err error) error {
	if err == nil {
		*into = made
		*c = append(*c, made)
	}
	return err
}

func newBench(t *cuda.Thread, a amounts) (*bench, error) {
	b := &bench{amounts: a, thread: t}
	if err := b.load(); err != nil {
		return nil, errors.Join(err, b.close.Close())
	}
	return b, nil
}

func (b *bench) load() error {
	t := b.thread
	var err error
	for _, load := range []func() error{
		func() error { b.data, err = kerneltest.LoadScatterBench(t); return err },
		func() error { b.scatter, err = kerneltest.LoadEgaScatter(t); return err },
		func() error { b.chain, err = kernels.LoadEgaScatterChain(t); return err },
		func() error { b.pages, err = kernels.LoadPages(t); return err },
		func() error { m, err := t.Alloc(cuda.Size(b.Bytes)); return open(&b.close, &b.src, m, err) },
		func() error { m, err := t.Alloc(cuda.Size(b.Bytes)); return open(&b.close, &b.dst, m, err) },
	} {
		if err := load(); err != nil {
			return err
		}
	}
	return nil
}

// measure times all shapes.
func (r *report) measure(rig *device.Rig) (err error) {
	b, err := newBench(rig.Thread, r.amounts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close.Close()) }()
	for _, s := range shapes() {
		if err := r.shape(rig, b, s); err != nil {
			return err
		}
	}
	for _, s := range tried {
		for _, b.Page = range r.Pages {
			for _, b.Tile = range tiles {
				if err := r.shape(rig, b, s); err != nil {
					return err
				}
			}
		}
	}
	b.Page, b.Tile = r.Page, r.Tile
	r.Resources, err = b.resources()
	return err
}

// shape adds the times of one shape.
func (r *report) shape(rig *device.Rig, b *bench, s shape) error {
	points, err := b.time(rig, s)
	if err != nil {
		return fmt.Errorf("%+v: %w", s, err)
	}
	for _, p := range points {
		fmt.Fprintf(os.Stderr, "%+v\n", p)
	}
	r.Points = append(r.Points, points...)
	return nil
}

// time times all ways to divide rows of one shape.
func (b *bench) time(rig *device.Rig, s shape) (points []point, err error) {
	var c closers
	defer func() { err = errors.Join(err, c.Close()) }()
	rows := b.Bytes / 8 / s.Stride
	d := ondevice.Rows{Stride: s.Stride, Keyed: true, Bits: s.Bits, TileRows: b.Tile}
	if err := b.fill(&c, s, rows); err != nil {
		return nil, err
	}
	cases, err := b.ways(&c, d, rows)
	if err != nil {
		return nil, err
	}
	times, err := rig.Rounds(b.Rounds, cases)
	for i, t := range times {
		points = append(points, point{shape: s, Way: cases[i].Name, Rows: rows, Tile: b.Tile, Page: b.Page, Microseconds: t})
	}
	return points, err
}

// fill makes the rows of src.
func (b *bench) fill(c *closers, s shape, rows int) error {
	var stream *cuda.Stream
	made, err := b.thread.NewStream()
	if err := open(c, &stream, made, err); err != nil {
		return err
	}
	for i, name := range skews {
		if name == s.Skew {
			err = b.data.Fill(stream, kernels.Sweep(uint64(rows)), b.src.Span().Ptr, uint64(rows), uint32(s.Stride), uint32(i))
		}
	}
	return errors.Join(err, stream.Synchronize())
}
