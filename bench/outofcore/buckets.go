package main

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/partition"
)

// hostBuckets is where rows go for which the device has no room: each placer
// has pages of its own.
type hostBuckets struct {
	bits  uint
	pools []*partition.Pool
	all   []*partition.Buckets
}

func newHostBuckets(placers int, bits uint) *hostBuckets {
	h := &hostBuckets{bits: bits}
	for range placers {
		pool := partition.NewPool(stride, func(int64) error { return nil })
		h.pools = append(h.pools, pool)
		h.all = append(h.all, partition.New(0, bits, pool, nil))
	}
	return h
}

func (h *hostBuckets) place(placer int, rows []uint64) error {
	n, err := h.all[placer].Scatter(rows)
	if err == nil && n < len(rows)/stride {
		err = fmt.Errorf("%d of %d rows placed", n, len(rows)/stride)
	}
	return err
}

// pages is those of bucket p.
func (h *hostBuckets) pages(p int) (pages [][]uint64) {
	for _, b := range h.all {
		pages = b.Pages(pages, p)
	}
	return pages
}

func (h *hostBuckets) free() {
	for _, p := range h.pools {
		p.Reset()
	}
}

// bucketStats is what the second pass did.
type bucketStats struct {
	Rows   int64 `json:"rows"`
	Full   int   `json:"full"` // buckets that the table could not take whole
	Left   int64 `json:"left"` // rows that the host combined
	Rounds int64 `json:"rounds"`
}

// second aggregates all host buckets, several at a time, each on the device as
// far as it goes, and the rest on the host.
func (b *bench) second(host *hostBuckets, f *figures) (counted tally, err error) {
	defer host.free()
	workers := make([]worker, b.passes)
	var next atomic.Int32
	err = spread(b.passes, b.passes, func(_, n int) (err error) {
		w := &workers[n]
		w.host, w.once = host, b.once
		if w.pass, err = ega.NewBucketPass(b.thread.Context(), ega.BucketPassConfig{
			Layout: layout, Device: b.device / int64(b.passes),
		}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.pass.Close()) }()
		for p := next.Add(1) - 1; p < 1<<b.bits; p = next.Add(1) - 1 {
			if err := w.bucket(int(p)); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range workers {
		w := &workers[i]
		counted = sum([]tally{counted, w.tally})
		f.Buckets.add(w)
	}
	return counted, err
}

// add takes in what one goroutine did.
func (s *bucketStats) add(w *worker) {
	s.Left += w.left
	if w.pass != nil {
		did := w.pass.Stats()
		s.Rows, s.Full, s.Rounds = s.Rows+did.Rows, s.Full+did.Full, s.Rounds+did.Rounds
	}
}

// worker is one goroutine of the second pass.
type worker struct {
	host  *hostBuckets
	pass  *ega.BucketPass
	once  bool
	tally tally
	left  int64
}

// bucket aggregates bucket p. Where its table gets full, the groups from the
// device are combined with the rows it did not take.
func (w *worker) bucket(p int) error {
	pages := w.host.pages(p)
	rows := 0
	for _, page := range pages {
		rows += len(page) / stride
	}
	if err := w.pass.Begin(w.host.bits, int64(rows)); err != nil {
		return err
	}
	var rest [][]uint64
	room := math.MaxInt
	if w.once {
		room = int(w.pass.Capacity())
	}
	for _, page := range pages {
		taken, err := w.pass.Add(page[:min(len(page)/stride, room)*stride])
		if err != nil {
			return err
		}
		room -= taken
		if left := page[taken*stride:]; len(left) > 0 {
			rest = append(rest, left)
			w.left += int64(len(left) / stride)
		}
	}
	if rest == nil {
		return w.pass.End(w.tally.add)
	}
	counts := map[uint64]uint64{}
	add := func(rows []uint64) error {
		for r := 0; r < len(rows); r += stride {
			counts[rows[r+wordKey]] += rows[r+wordCount]
		}
		return nil
	}
	if err := w.pass.End(add); err != nil {
		return err
	}
	for _, rows := range rest {
		_ = add(rows) // it cannot fail
	}
	for _, n := range counts {
		w.tally.groups++
		w.tally.rows += n
	}
	return nil
}
