package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// measure takes the rate of the link, and then every case in rounds: those of
// one number of groups take turns.
func (r *report) measure(rig *device.Rig, a amounts) (err error) {
	b := &bench{amounts: a, thread: rig.Thread, link: rig}
	if b.data, err = newData(rig.Thread, a.rows); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.data.close()) }()
	b.data.fill(1, b.producers)
	if r.Link, err = b.plainCopies(); err != nil {
		return err
	}
	for _, groups := range a.groups {
		b.data.fill(groups, b.producers)
		cases := a.cases(groups)
		taken := make([][]figures, len(cases))
		for range a.rounds {
			for i, c := range cases {
				f, err := b.measureTwice(c)
				if err != nil {
					return fmt.Errorf("%+v: %w", c, err)
				}
				fmt.Fprintf(os.Stderr, "%+v: first %.3f s, second %.3f s\n", c, f.First, f.Second)
				taken[i] = append(taken[i], f)
			}
		}
		for i, c := range cases {
			r.Lines = append(r.Lines, line{c, median(taken[i])})
		}
	}
	return nil
}

// measureTwice measures a run and, if rows have stayed in pinned memory, another one that finds the
// memory pinned.
func (b *bench) measureTwice(c testCase) (f figures, err error) {
	spares := &evict.Spares{}
	defer func() {
		begin := time.Now()
		err = errors.Join(err, spares.Close())
		f.Unpin = time.Since(begin).Seconds()
	}()
	if f, err = b.measure(c, spares); err != nil || f.Pass.RetainedRows == 0 {
		return f, err
	}
	warm, err := b.measure(c, spares)
	f.Warm = &warm
	return f, err
}

// cases are those of one number of groups.
func (a amounts) cases(groups uint64) (list []testCase) {
	for i, n := range a.streams {
		if i > 0 && !slices.Contains(a.varied, groups) {
			break
		}
		list = append(list, testCase{groups, pinned, n}, testCase{groups, pageable, n})
	}
	return list
}

// median is the run that took the median time of all.
func median(taken []figures) figures {
	slices.SortFunc(taken, func(a, b figures) int { return cmp.Compare(a.total(), b.total()) })
	return taken[len(taken)/2]
}

// plainCopies is the rate of the link in GB/s: all rows, in pieces of a slot.
func (b *bench) plainCopies() (rate float64, err error) {
	memory, err := b.thread.Alloc(cuda.Size(b.slot * rowBytes))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	took, err := b.link.Rounds(1, []device.Case{{Name: "plain copies", Run: func(s *cuda.Stream) error {
		for from := 0; from < b.rows; from += b.slot {
			span := b.data.span(from, min(from+b.slot, b.rows))
			if err := s.CopyIn(memory.Span().Slice(0, span.Size()), span); err != nil {
				return err
			}
		}
		return nil
	}}})
	if err != nil {
		return 0, err
	}
	return float64(b.rows*rowBytes) / took[0] / 1e3, nil
}
