package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// testCase is something to measure.
type testCase struct {
	Groups uint64 `json:"groups"`
	// pinned: lent to the pass; pageable: producers copy it into slots
	Source  string `json:"source"`
	Streams int    `json:"streams"`
}

const (
	pinned   = "pinned"
	pageable = "pageable"
)

// figures are what one run of a case came to, in seconds where nothing else is said.
type figures struct {
	Start  float64 `json:"start_s"`  // making the pass
	First  float64 `json:"first_s"`  // from the first row until the pass is finished
	Finish float64 `json:"finish_s"` // of it: behind the last row
	// reading the groups from the device, or the host buckets' passes
	Second float64 `json:"second_s"`

	// writing rows to buckets: of all writers together; the name is that of results on record
	Writing float64 `json:"placers_s"`

	Warm  *figures `json:"warm,omitempty"` // of another run, in the pinned memory of this one
	Unpin float64  `json:"unpin_s"`        // giving that memory back in the end, by one goroutine

	Pass      firstpass.Stats `json:"pass"`
	Buckets   bucketStats     `json:"buckets"`
	GroupsOut uint64          `json:"groups_out"`
}

func (f *figures) total() float64 { return f.First + f.Second }

// bench is what all cases have in common.
type bench struct {
	amounts
	thread *cuda.Thread
	data   *data
	link   *device.Rig
}

// measure measures one run. It counts the groups, and the rows in them.
func (b *bench) measure(c testCase, spares *evict.Spares) (f figures, err error) {
	host := newHostBuckets(b.writers, b.bits, b.split)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(b.processors(c)))
	begin := time.Now()
	m, err := firstpass.Start(context.Background(), b.thread.Context(), firstpass.Config{
		Layout: layout, Streams: c.Streams, Device: b.device, Writers: b.writers, Write: host.place,
		Slots: c.Streams*slotsPerStream + b.producers, SlotBytes: b.slot * rowBytes,
		RetainBytes: b.keep, Spares: spares, Readers: b.passes, Timed: b.timed,
	})
	if err != nil {
		return f, err
	}
	f.Start = time.Since(begin).Seconds()
	g, err := b.first(m, c, &f)
	if err != nil {
		return f, errors.Join(err, m.Close())
	}
	begin = time.Now()
	var counted tally
	if g != nil {
		counted, err = b.read(g)
		err = errors.Join(err, g.Close(), m.Close())
	} else {
		host.keep(m.EvictedRows())
		if err = m.Close(); err == nil { // the device memory is the bucket passes' now
			counted, err = b.second(host, &f)
		}
		err = errors.Join(err, host.free(&f))
	}
	f.Second = time.Since(begin).Seconds()
	f.Writing = time.Duration(host.busy.Load()).Seconds()
	f.GroupsOut = counted.groups
	return f, errors.Join(err, counted.check(uint64(b.rows), c.Groups))
}

// processors is how many Go has.
func (b *bench) processors(c testCase) int {
	if b.procs < 0 {
		return runtime.NumCPU() + 2*c.Streams
	}
	return runtime.NumCPU() + b.procs
}

// slotsPerStream is how many slots a stream has under way beside those that are filled.
const slotsPerStream = 4

// readBits: 2^readBits partitions of groups, of which several are read at a time.
const readBits = 6

func (b *bench) first(m *firstpass.Pass, c testCase, f *figures) (*groups.Groups, error) {
	begin := time.Now()
	submit, producers := b.lend, 1
	if c.Source == pageable {
		submit, producers = b.copyIn, b.producers
	}
	err := spread(producers, (b.rows+b.slot-1)/b.slot, func(_, n int) error { return submit(m, n*b.slot, min((n+1)*b.slot, b.rows)) })
	if err != nil {
		return nil, err
	}
	last := time.Now()
	g, err := m.Finish(readBits)
	f.First, f.Finish = time.Since(begin).Seconds(), time.Since(last).Seconds()
	f.Pass = m.Stats()
	return g, err
}

func (b *bench) lend(m *firstpass.Pass, from, end int) error {
	return m.SubmitPinned(b.data.span(from, end))
}

func (b *bench) copyIn(m *firstpass.Pass, from, end int) error {
	slot, err := m.Slot(context.Background())
	if err != nil {
		return err
	}
	to := slot.Bytes()
	copy(unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(to))), len(to)/8), b.data.words[from*stride:end*stride])
	return m.Submit(slot, end-from)
}

// read copies all groups to the host, by as many goroutines as there are passes.
func (b *bench) read(g *groups.Groups) (tally, error) {
	tallies := make([]tally, b.passes)
	readers := make([]*groups.Reader, b.passes)
	err := spread(b.passes, b.passes, func(_, n int) (err error) {
		if readers[n], err = g.Reader(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, readers[n].Close()) }()
		for p := n; p < 1<<readBits; p += b.passes {
			if err := readers[n].Read(p, tallies[n].add); err != nil {
				return err
			}
		}
		return nil
	})
	return sum(tallies), err
}

// tally is groups that came out.
type tally struct {
	groups, rows uint64
}

func (t *tally) add(rows []uint64) error {
	for r := range slices.Chunk(rows, stride) {
		t.rows += r[wordCount]
	}
	t.groups += uint64(len(rows) / stride)
	return nil
}

func sum(all []tally) (s tally) {
	for _, t := range all {
		s.groups += t.groups
		s.rows += t.rows
	}
	return s
}

// check compares with what is known beforehand: all rows are counted, and all
// groups are there where every one is certain to have been drawn.
func (t tally) check(rows, groups uint64) error {
	const certain = 50 // rows a group: one is missing once in e^50
	if t.rows != rows {
		return fmt.Errorf("the groups count %d rows, not %d", t.rows, rows)
	}
	if t.groups > groups || rows/groups >= certain && t.groups != groups {
		return fmt.Errorf("%d groups came out, of %d", t.groups, groups)
	}
	return nil
}
