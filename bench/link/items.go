package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// The names of the figures, as link.cu has them too; SIZE is in bytes.
//
//	start/init, start/context         milliseconds, once in a process
//	launch/issue, launch/sync         microseconds a launch, without and with waiting for it
//	pinned/in|out|both/SIZE           GB/s; both: of the two directions together
//	pageable/in|out                   GB/s
//	pin/SIZE                          milliseconds a MiB, to allocate so much pinned memory
func unit(name string) string {
	switch kind, _, _ := strings.Cut(name, "/"); kind {
	case "start":
		return "ms"
	case "launch":
		return "µs"
	case "pin":
		return "ms/MiB"
	}
	return "GB/s"
}

// names are the figures in the order of the report.
func (a amounts) names() []string {
	list := []string{"start/init", "start/context", "launch/issue", "launch/sync"}
	for _, way := range []string{"in", "out", "both"} {
		for _, size := range a.sizes {
			list = append(list, at("pinned/"+way, size))
		}
	}
	list = append(list, "pageable/in", "pageable/out")
	for _, size := range a.sizes {
		list = append(list, at("pin", size))
	}
	return list
}

func at(name string, size int) string { return fmt.Sprintf("%s/%d", name, size) }

// round takes every figure once.
func (b *buffers) round() (figures, error) {
	f := figures{}
	var err error
	take := func(name string, measure func() (float64, error)) {
		if err == nil {
			f[name], err = b.median(measure)
		}
	}
	take("launch/issue", b.issue)
	take("launch/sync", b.launchAndWait)
	for _, size := range b.sizes {
		take(at("pinned/in", size), func() (float64, error) { return b.rate(size, true, false) })
		take(at("pinned/out", size), func() (float64, error) { return b.rate(size, false, true) })
		take(at("pinned/both", size), func() (float64, error) { return b.rate(size, true, true) })
	}
	take("pageable/in", func() (float64, error) {
		return b.bulk(func() error { return b.thread.Write(b.deviceIn.Span(), b.pageable) })
	})
	take("pageable/out", func() (float64, error) {
		return b.bulk(func() error { return b.thread.Read(b.pageable, b.deviceOut.Span()) })
	})
	for _, size := range b.sizes {
		take(at("pin", size), func() (float64, error) { return b.pin(size) })
	}
	return f, err
}

// median of so many measurements as a figure of a round has.
func (b *buffers) median(measure func() (float64, error)) (float64, error) {
	var values []float64
	for range b.repeats {
		value, err := measure()
		if err != nil {
			return 0, err
		}
		values = append(values, value)
	}
	return device.Median(values), nil
}

var oneWarp = cuda.Grid{Blocks: 1, Threads: 32}

// issue is the microseconds until a launch has been handed to the driver.
func (b *buffers) issue() (float64, error) {
	start := time.Now()
	for range b.launches {
		if err := b.empty.Launch(b.in, oneWarp); err != nil {
			return 0, err
		}
	}
	d := time.Since(start)
	return d.Seconds() * 1e6 / float64(b.launches), b.in.Synchronize()
}

// launchAndWait is the microseconds until a launched kernel is known to be done.
func (b *buffers) launchAndWait() (float64, error) {
	start := time.Now()
	for range b.launches {
		if err := b.empty.Launch(b.in, oneWarp); err != nil {
			return 0, err
		}
		if err := b.in.Synchronize(); err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds() * 1e6 / float64(b.launches), nil
}

// rate is the GB/s of pinned copies of one size in one direction or both.
func (b *buffers) rate(size int, inward, outward bool) (float64, error) {
	n := cuda.Size(size)
	copies := max(b.copied/size, 1)
	moved := 0
	start := time.Now()
	for range copies {
		if inward {
			if err := b.in.CopyIn(b.deviceIn.Span().Slice(0, n), b.hostIn.Span(0, n)); err != nil {
				return 0, err
			}
			moved += size
		}
		if outward {
			if err := b.out.CopyOut(b.hostOut.Span(0, n), b.deviceOut.Span().Slice(0, n)); err != nil {
				return 0, err
			}
			moved += size
		}
	}
	for _, s := range []*cuda.Stream{b.in, b.out} {
		if err := s.Synchronize(); err != nil {
			return 0, err
		}
	}
	return float64(moved) / 1e9 / time.Since(start).Seconds(), nil
}

// bulk is the GB/s of one copy of the largest size.
func (b *buffers) bulk(copy func() error) (float64, error) {
	start := time.Now()
	err := copy()
	return float64(b.largest()) / 1e9 / time.Since(start).Seconds(), err
}

// pin is the milliseconds a MiB that allocating pinned memory takes.
func (b *buffers) pin(size int) (float64, error) {
	start := time.Now()
	p, err := b.thread.AllocPinned(cuda.Size(size))
	if err != nil {
		return 0, err
	}
	d := milliseconds(time.Since(start))
	return d / (float64(size) / (1 << 20)), p.Close()
}
