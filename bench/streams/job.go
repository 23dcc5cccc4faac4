package main

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/streams"
)

// shrink is how many words of input make one of output.
const shrink = 10

// job has the device read an input, and make a tenth of it. All inputs of a case
// have the same one.
type job struct {
	bench     *bench
	delivered atomic.Int64 // bytes
}

func (j *job) Launch(s *streams.Stage) error {
	words := uint64(s.In.Size / 8)
	sums := (words + shrink - 1) / shrink
	return j.bench.kernels.Sums(s.Stream, kernels.Sweep(sums), s.In.Ptr, words, s.Scratch.Ptr, sums, s.Facts.Ptr)
}

func (j *job) Output(s *streams.Stage, facts []uint64) (cuda.Span, error) {
	if facts[1] != uint64(s.In.Size/8) {
		return cuda.Span{}, fmt.Errorf("the kernel has seen %d words of %d", facts[1], s.In.Size/8)
	}
	return s.Scratch.Slice(0, cuda.Size(facts[0])), nil
}

func (j *job) Deliver(out []byte) error {
	j.delivered.Add(int64(len(out)))
	return nil
}

// feed hands all inputs to the pipeline, and waits for their outputs.
func (b *bench) feed(p *streams.Pipeline, c testCase) error {
	j := &job{bench: b}
	hand := func(_, n int) error { return b.lend(p, c, j, n) }
	if c.Kind == pageable {
		hand = func(_, n int) error { return b.produce(p, c, j, n) }
	}
	err := errors.Join(spread(max(c.Producers, 1), b.inputs(c), hand), p.Finish())
	if want := int64(b.inputs(c) * ((c.Slot/8 + shrink - 1) / shrink * 8)); err == nil && j.delivered.Load() != want {
		err = fmt.Errorf("%d bytes of output, want %d", j.delivered.Load(), want)
	}
	return err
}

func (b *bench) lend(p *streams.Pipeline, c testCase, j *job, n int) error {
	from, end := b.at(c, n)
	return p.SubmitPinned(j, b.pinned.Span(cuda.Size(from), cuda.Size(end)))
}

func (b *bench) produce(p *streams.Pipeline, c testCase, j *job, n int) error {
	slot, err := p.Slot()
	if err != nil {
		return err
	}
	from, end := b.at(c, n)
	p.Submit(slot, copy(slot.Bytes(), b.pageable[from:end]), j)
	return nil
}

// spread calls do for 0 … inputs-1, from so many goroutines.
func spread(goroutines, inputs int, do func(goroutine, n int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, goroutines)
	for i := range goroutines {
		all.Go(func() {
			for errs[i] == nil {
				n := int(next.Add(1)) - 1
				if n >= inputs {
					return
				}
				errs[i] = do(i, n)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
