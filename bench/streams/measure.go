package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/streams"
)

// figures are what one run of a case came to.
type figures struct {
	Rate  float64 `json:"gb_per_s"` // of input
	Cores float64 `json:"cores"`    // processors that were busy
	Start float64 `json:"start_ms"` // to make the pipeline, pinning included
}

// measure takes every case once a round, after a round that does not count.
func (r *report) measure(rig *device.Rig, a amounts, rounds int) (err error) {
	b, err := newBench(rig.Thread, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	cases := a.cases()
	taken := make([][]figures, len(cases))
	for round := range rounds + 1 {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round, rounds)
		for i, c := range cases {
			f, err := b.measure(c)
			if err != nil {
				return fmt.Errorf("%v: %w", c, err)
			}
			if round > 0 {
				taken[i] = append(taken[i], f)
			}
		}
	}
	for i, c := range cases {
		r.Rows = append(r.Rows, row{testCase: c, figures: median(taken[i])})
	}
	return nil
}

func median(of []figures) figures {
	pick := func(get func(figures) float64) float64 {
		var values []float64
		for _, f := range of {
			values = append(values, get(f))
		}
		return device.Median(values)
	}
	return figures{
		Rate:  pick(func(f figures) float64 { return f.Rate }),
		Cores: pick(func(f figures) float64 { return f.Cores }),
		Start: pick(func(f figures) float64 { return f.Start }),
	}
}

// bench is the data and what plain copies need.
type bench struct {
	amounts
	thread   *cuda.Thread
	kernels  *kerneltest.Stream
	stream   *cuda.Stream
	pinned   *cuda.Pinned
	memory   *cuda.Memory
	pageable []byte
	opened   []interface{ Close() error }
}

func newBench(t *cuda.Thread, a amounts) (b *bench, err error) {
	b = &bench{amounts: a, thread: t, pageable: make([]byte, a.source)}
	for i := range b.pageable { // each page has its own memory, or all would be the one of zeros
		b.pageable[i] = byte(i)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.kernels, err = kerneltest.LoadStream(t); err != nil {
		return b, err
	}
	if b.stream, err = t.NewStream(); err != nil {
		return b, err
	}
	b.opened = append(b.opened, b.stream)
	if b.pinned, err = t.AllocPinned(cuda.Size(a.source)); err != nil {
		return b, err
	}
	b.opened = append(b.opened, b.pinned)
	copy(b.pinned.Bytes(), b.pageable)
	if b.memory, err = t.Alloc(cuda.Size(a.slots[len(a.slots)-1])); err != nil {
		return b, err
	}
	b.opened = append(b.opened, b.memory)
	return b, nil
}

func (b *bench) close() error {
	var errs []error
	for i := len(b.opened) - 1; i >= 0; i-- {
		errs = append(errs, b.opened[i].Close())
	}
	return errors.Join(errs...)
}

func (b *bench) measure(c testCase) (figures, error) {
	switch c.Kind {
	case link:
		return b.clocked(c, func() error { return b.copies(c) })
	case fill:
		return b.clocked(c, func() error { return b.fills(c) })
	}
	return b.pipeline(c)
}

// clocked is the rate of do, and how many processors it kept busy.
func (b *bench) clocked(c testCase, do func() error) (figures, error) {
	busy, from := processorTime(), time.Now()
	err := do()
	took := time.Since(from)
	bytes := float64(b.inputs(c) * c.Slot)
	return figures{Rate: bytes / 1e9 / took.Seconds(), Cores: (processorTime() - busy).Seconds() / took.Seconds()}, err
}

// inputs is how many make up a figure.
func (b *bench) inputs(c testCase) int { return max(b.moved/c.Slot, 1) }

// at is where input n lies in the data.
func (b *bench) at(c testCase, n int) (from, to int) {
	from = n * c.Slot % b.source
	return from, from + c.Slot
}

func (b *bench) copies(c testCase) error {
	to := b.memory.Span().Slice(0, cuda.Size(c.Slot))
	for n := range b.inputs(c) {
		from, end := b.at(c, n)
		if err := b.stream.CopyIn(to, b.pinned.Span(cuda.Size(from), cuda.Size(end))); err != nil {
			return err
		}
	}
	return b.stream.Synchronize()
}

// fills copies the pageable data into as much pinned memory as the slots of a
// pipeline have: what producers can do at most.
func (b *bench) fills(c testCase) error {
	ring := min(b.source/c.Slot, 2*c.Producers)
	return spread(c.Producers, b.inputs(c), func(producer, n int) error {
		from, end := b.at(c, n)
		into := b.pinned.Bytes()[(producer+c.Producers*(n%2))%ring*c.Slot:]
		copy(into, b.pageable[from:end])
		return nil
	})
}

// pipeline measures from the first input to the last output, without the making of
// the pipeline.
func (b *bench) pipeline(c testCase) (f figures, err error) {
	out := (c.Slot/8 + shrink - 1) / shrink * 8
	config := streams.Config{Streams: c.Streams, Depth: c.Depth, SlotBytes: c.Slot, ScratchBytes: out}
	if c.Kind == pinned {
		config.Slots = 1 // it has no use for them
	} else {
		config.Slots = c.Streams*c.Depth + 2*c.Producers
	}
	from := time.Now()
	p, err := streams.Start(context.Background(), b.thread.Context(), config)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	start := time.Since(from)
	f, err = b.clocked(c, func() error { return b.feed(p, c) })
	f.Start = start.Seconds() * 1e3
	if s := p.Stats(); len(s.Refused) > 0 {
		err = errors.Join(err, fmt.Errorf("the pipeline is not as it was asked for: %w", errors.Join(s.Refused...)))
	}
	return f, err
}
