package gpu

import (
	"errors"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/ega/secondpass"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/merge"
)

// Attach has a merger, on its goroutine, use the device for its partitions.
func (d *Devices) Attach(m *cpu.Merger) error {
	switch {
	case d.groups != nil:
		r, err := d.groups.Reader()
		if err != nil { // the first passes may still have the memory
			for _, p := range d.passes {
				_ = p.closed.wait() // told by Close
			}
			r, err = d.groups.Reader()
		}
		if err != nil {
			return failed(d.context, err)
		}
		m.Accelerate(&resident{r, d, d.newLists(r)}, nil)
	case d.second:
		p, err := d.secondPass()
		if err != nil {
			return err
		}
		if len(d.retained.list) > 0 {
			m.UseEvicted(func(of merge.Range, bits uint) []cpu.EvictedSpan { return d.retained.handOut(of, bits, p) })
		}
		if p != nil {
			m.Accelerate(nil, p)
		}
	}
	return nil
}

// resident reads the groups of a device and counts the input rows that they stand for.
type resident struct {
	*groups.Reader
	d     *Devices
	lists *lists
}

func (r *resident) Read(p int, values *arena.Arena, emit func(rows []uint64) error) error {
	d, stands := r.d, int64(0)
	var sink error // of emit: no failure of the device
	err := r.Reader.Read(p, func(rows []uint64) error {
		stands += d.config.Run.StandFor(rows)
		rows, err := r.lists.fill(rows, values, func(bytes int) error { return reserve(values, bytes) })
		if err != nil || len(rows) == 0 {
			return err
		}
		sink = emit(rows)
		return sink
	})
	if sink != nil {
		return sink
	}
	if err != nil {
		return failed(d.context, err)
	}
	d.rows.got.Add(stands)
	if d.rows.left.Add(-1) > 0 {
		return nil
	}
	if err := d.rows.check(); err != nil {
		return &Error{Device: d.context.Device().Ordinal, Cause: err, Late: true}
	}
	return nil
}

// Close lets go of the reader.
func (r *resident) Close() error { return r.d.closing(r.d.context, r.Reader.Close()) }

// PlanPasses says how many rows the largest partition has, or the most that are merged as one:
// before mergers are attached.
func (d *Devices) PlanPasses(rows int64) { d.largest = rows }

// secondPass is a second pass for one more merger, on the next device; nil: there is no room for
// it, there or on the host. Few that have room for the largest partition are better than many that
// leave half of its rows to the CPU (docs/experiments/0008), which has partitions of its own to
// merge.
func (d *Devices) secondPass() (*secondPass, error) {
	n := int(d.merger.Add(1)) - 1
	p := d.passes[n%len(d.passes)]
	c := secondpass.Config{Layout: d.config.Layout, Load: d.config.Load}
	wanted := secondpass.Bytes(c, d.largest)
	each := int64((d.mergers + len(d.passes) - 1) / len(d.passes))
	if each = max(min(each, p.memory/wanted), 1); int64(n/len(d.passes)) >= each {
		return nil, nil
	}
	c.Device = min(p.memory/each, max(wanted, mostBucket))
	c.Host = d.config.Spare
	b, err := secondpass.New(p.context, c)
	switch {
	case err == nil:
	case errors.Is(err, budget.Memory), errors.Is(err, cuda.ErrOutOfMemory), errors.Is(err, ega.ErrTooSmall):
		return nil, nil
	default:
		return nil, failed(p.context, err)
	}
	return &secondPass{Pass: b, of: d, context: p.context, notes: &p.second}, nil
}

// mostBucket is the most device memory of a merger, unless a partition may need more: 1 GiB has
// room for 2e7 groups of 24 bytes, eighty times as many as small partitions are put together to.
const mostBucket = 1 << 30

// secondPass counts what rows stand for on their way to the device and back.
type secondPass struct {
	*secondpass.Pass
	of       *Devices
	context  *cuda.Context
	notes    *secondStats
	rows     int64 // input rows that the bucket stands for, but for
	retained int64 // rows that devices had retained, which were not counted before
}

func (b *secondPass) Begin(skip uint, rows int64) error {
	b.rows, b.retained = 0, 0
	return failed(b.context, b.Pass.Begin(skip, rows))
}

func (b *secondPass) Add(rows []uint64) (int, error) {
	n, err := b.Pass.Add(rows)
	b.rows += b.of.config.Run.StandFor(rows[:n*b.of.config.Layout.Stride()])
	return n, failed(b.context, err)
}

// addRetained loads rows that devices have retained.
func (b *secondPass) addRetained(s *evict.Span) (int, error) {
	n, err := b.AddPinned(s.Pinned())
	b.retained += int64(n)
	return n, failed(b.context, err)
}

func (b *secondPass) End(emit func(rows []uint64) error) error {
	back := tally{want: b.rows}
	var sink error
	err := b.Pass.End(func(rows []uint64) error {
		back.got.Add(b.of.config.Run.StandFor(rows))
		sink = emit(rows)
		return sink
	})
	switch {
	case sink != nil:
		return sink
	case err == nil && b.retained > 0:
		return b.of.retained.back(b.retained, back.got.Load()-b.rows)
	case err == nil:
		err = back.check()
	}
	return failed(b.context, err)
}
