// Command pages measures the page managers of gpumem on the device: figures 4,
// 11, 12, 14 and 16 of paper 000, with SlabAlloc, a queue and CUDA's own malloc
// beside them. `make bench-gpu` runs it.
//
// Pools have 2^28 pages, so that a burst of 2^20 threads finds enough where only
// 0.5 % are free; the paper has a million pages and up to 5,000 threads. Before
// each burst the pool is brought to the same share of free pages again, outside
// the clock. No page is ever touched: finding one is what is measured.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/gagg-dev/gagg/bench/device"
)

func main() { device.Main(run) }

func run() (err error) {
	results := flag.String("results", "bench/results", "folder of the result files; empty: none")
	little := flag.Bool("small", false, "little work, for the emulator")
	rounds := flag.Int("rounds", full.rounds, "timed rounds")
	only := flag.String("only", "", "contenders, by name, with commas between: only their bursts are measured")
	flag.Parse()
	a := full
	a.rounds = *rounds
	if *little {
		a = small
	}

	rig, err := device.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rig.Close()) }()
	rig.Setting.Repetition = fmt.Sprintf("each time is the median of %d rounds of all contenders in turns, steps are the mean of %d bursts", a.rounds, a.counts)
	r := &report{Setting: rig.Setting, amounts: a, only: *only}
	if err := r.measure(rig); err != nil {
		return err
	}
	return r.publish(os.Stdout, *results)
}

// measure fills the report.
func (r *report) measure(rig *device.Rig) (err error) {
	b, err := newBench(rig.Thread, r.largest)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	p, err := newPool(b, r.pages)
	if err != nil {
		return err
	}
	if err := r.compare(rig, p); err != nil {
		return err
	}
	if r.only != "" {
		return nil
	}
	for _, table := range []func(*device.Rig, *pool) error{r.others, r.byLanes, r.again, r.allocations} {
		if err := table(rig, p); err != nil {
			return err
		}
	}
	return nil
}

// compare measures everybody. What only this needs is freed before the rest.
func (r *report) compare(rig *device.Rig, p *pool) (err error) {
	all := asWalkers(p, everyone, 1, methods...)
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.close())
		}
	}()
	plain, err := newQueue(p.bench, r.pages, false)
	if err != nil {
		return err
	}
	all = append(all, plain, serialQueue{plain})
	for _, open := range []func() (contender, error){
		func() (contender, error) { return newSlabs(p.bench, r.pages) },
		func() (contender, error) { return newQueue(p.bench, r.pages, true) },
		func() (contender, error) { return newCUDAMalloc(p.bench, slabBytes) },
	} {
		c, err := open()
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	return r.bursts(rig, slices.DeleteFunc(slices.Clone(all), func(c contender) bool { return !r.wants(c) }))
}
