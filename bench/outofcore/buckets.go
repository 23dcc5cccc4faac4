package main

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/ega/secondpass"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/partition"
)

// hostBuckets is where rows go for which the device has no room: each writer
// has pages of its own. Or they stay in the pinned memory they leave to.
type hostBuckets struct {
	busy  atomic.Int64 // of all writers, in ns
	kept  *evict.Rows  // nil: no row stayed
	bits  uint         // 2^bits buckets,
	parts uint         // each of which is 2^parts of those that writers have
	pools []*partition.Pool
	all   []*partition.Buckets
}

func newHostBuckets(writers int, bits, split uint) *hostBuckets {
	h := &hostBuckets{bits: bits, parts: split}
	for range writers {
		pool := partition.NewPool(stride, nil)
		h.pools = append(h.pools, pool)
		h.all = append(h.all, partition.New(0, bits+split, pool, nil))
	}
	return h
}

func (h *hostBuckets) place(writer int, rows []uint64) error {
	begin := time.Now()
	n, err := h.all[writer].ScatterRuns(rows)
	h.busy.Add(int64(time.Since(begin)))
	if err == nil && n < len(rows)/stride {
		err = fmt.Errorf("%d of %d rows placed", n, len(rows)/stride)
	}
	return err
}

// keep takes over rows that stayed in pinned memory. Buckets are no smaller then than these rows
// are told apart.
func (h *hostBuckets) keep(k *evict.Rows) {
	if h.kept = k; k != nil {
		common := min(h.bits, k.Bits())
		h.bits, h.parts = common, h.parts+h.bits-common
	}
}

// bucket is the pages of bucket p, and spans of pinned memory.
func (h *hostBuckets) bucket(p int) (pages [][]uint64, kept []evict.Span) {
	for _, b := range h.all {
		for part := range 1 << h.parts {
			pages = b.Pages(pages, p<<h.parts+part)
		}
	}
	if h.kept != nil {
		kept = h.kept.Spans(uint64(p), h.bits)
	}
	return pages, kept
}

// free gives the memory of all pools back, at the same time: it is gigabytes.
func (h *hostBuckets) free(f *figures) (err error) {
	begin := time.Now()
	_ = spread(len(h.pools), len(h.pools), func(_, n int) error { // nothing can fail
		h.pools[n].Reset()
		return nil
	})
	if h.kept != nil {
		err = h.kept.Close()
	}
	f.Buckets.Free = time.Since(begin).Seconds()
	return err
}

// bucketStats is what the second pass did.
type bucketStats struct {
	Rows   int64 `json:"rows"`
	Full   int   `json:"full"` // buckets that the table could not take whole
	Left   int64 `json:"left"` // rows that the host combined
	Rounds int64 `json:"rounds"`

	Open float64 `json:"open_s"` // until a pass was made: of all together, as is the rest
	Add  float64 `json:"add_s"`  // while rows were taken
	End  float64 `json:"end_s"`  // while groups came back
	Wait float64 `json:"wait_s"` // of these two: for the device
	Free float64 `json:"free_s"` // giving the host's memory back
}

// second aggregates all host buckets, several at a time, each on the device as
// far as it goes, and the rest on the host.
func (b *bench) second(host *hostBuckets, f *figures) (counted tally, err error) {
	workers := make([]worker, b.passes)
	var next atomic.Int32
	err = spread(b.passes, b.passes, func(_, n int) (err error) {
		w := &workers[n]
		w.host, w.once = host, b.once
		begin := time.Now()
		if w.pass, err = secondpass.New(b.thread.Context(), secondpass.Config{
			Layout: layout, Device: b.device / int64(b.passes), BufferBytes: b.buffer,
		}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.pass.Close()) }()
		w.open = time.Since(begin)
		for p := next.Add(1) - 1; p < 1<<host.bits; p = next.Add(1) - 1 {
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
	s.Open, s.Add, s.End = s.Open+w.open.Seconds(), s.Add+w.adding.Seconds(), s.End+w.ending.Seconds()
	if w.pass != nil {
		did := w.pass.Stats()
		s.Rows, s.Full, s.Rounds = s.Rows+did.Rows, s.Full+did.Full, s.Rounds+did.Rounds
		s.Wait += did.Wait.Seconds()
	}
}

// worker is one goroutine of the second pass.
type worker struct {
	host  *hostBuckets
	pass  *secondpass.Pass
	once  bool
	tally tally
	left  int64

	open, adding, ending time.Duration
}

// bucket aggregates bucket p.
func (w *worker) bucket(p int) error {
	pages, kept := w.host.bucket(p)
	rows := 0
	for _, page := range pages {
		rows += len(page) / stride
	}
	for _, s := range kept {
		rows += len(s.Rows()) / stride
	}
	if err := w.pass.Begin(w.host.bits, int64(rows)); err != nil {
		return err
	}
	rest, err := w.load(pages, kept)
	if err != nil {
		return err
	}
	begin := time.Now()
	defer func() { w.ending += time.Since(begin) }()
	if err := w.end(rest); err != nil {
		return err
	}
	for _, s := range kept {
		if err := s.Done(); err != nil {
			return err
		}
	}
	return nil
}

// end takes the groups of a bucket, and combines them with the rows that the table did not take.
func (w *worker) end(rest [][]uint64) error {
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

// load loads the rows of a bucket, and returns those that the table did not take.
func (w *worker) load(pages [][]uint64, kept []evict.Span) (rest [][]uint64, err error) {
	begin := time.Now()
	defer func() { w.adding += time.Since(begin) }()
	room := math.MaxInt
	if w.once {
		room = int(w.pass.Capacity())
	}
	took := func(rows []uint64, taken int) {
		room -= taken
		if left := rows[taken*stride:]; len(left) > 0 {
			rest = append(rest, left)
			w.left += int64(len(left) / stride)
		}
	}
	for _, page := range pages {
		taken, err := w.pass.Add(page[:min(len(page)/stride, room)*stride])
		if err != nil {
			return nil, err
		}
		took(page, taken)
	}
	for _, s := range kept {
		rows := s.Rows()
		taken, err := w.pass.AddPinned(s.Pinned().Slice(0, cuda.Size(min(len(rows)/stride, room)*rowBytes)))
		if err != nil {
			return nil, err
		}
		took(rows, taken)
	}
	return rest, nil
}
