package ega_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// roads make groups of the rows of a case.
var roads = map[string]func(*rig, *ega.Kernels, *caseOf) []uint64{
	"table": byTable, "shared": byShared, "crowded": byCrowded, "single": bySingle, "buckets": byBuckets, "scattered": byScattered,
}

// Every road makes the same groups of the same rows as the twin.
func TestRoads(t *testing.T) {
	list := cases()
	for name, road := range roads {
		t.Run("road="+name, func(t *testing.T) {
			for i := range list {
				c := &list[i]
				t.Run(c.name, func(t *testing.T) {
					r := newRig(t)
					got := road(r, r.load(c.layout), c)
					r.same(&c.layout, got, reference.Combine(&c.layout, c.rows))
				})
			}
		})
	}
}

func (c *caseOf) n() int { return len(c.rows) / c.layout.Stride() }

// byTable is the plain linear probe, with a slot for each row.
func byTable(r *rig, k *ega.Kernels, c *caseOf) []uint64 {
	slots := c.n() + 1
	t := r.table(k, ega.TableConfig{Slots: uint32(slots)})
	r.do(t.Add(r.stream, r.send(c.rows), uint64(c.n())))
	groups, rest := r.collect(t, &c.layout, slots)
	if len(rest) > 0 {
		r.tb.Errorf("%d words in the rest", len(rest))
	}
	return groups
}

// byShared is the blocks' tables, estimated too small and too large, twice over.
func byShared(r *rig, k *ega.Kernels, c *caseOf) []uint64 {
	slots := c.n() + 1
	t := r.table(k, ega.TableConfig{Slots: uint32(slots)})
	half := c.n() / 2 * c.layout.Stride()
	r.do(t.AddShared(r.stream, r.send(c.rows[:half]), uint64(c.n()/2), 1))
	r.do(t.AddShared(r.stream, r.send(c.rows[half:]), uint64(c.n()-c.n()/2), 1<<40))
	groups, _ := r.collect(t, &c.layout, slots)
	return groups
}

// byCrowded has a table that is too small: what it has no slot for comes out as
// rows, among them partial groups, of keys that are not in the table.
func byCrowded(r *rig, k *ega.Kernels, c *caseOf) []uint64 {
	slots := c.n()/8 + 1
	t := r.table(k, ega.TableConfig{Slots: uint32(slots), Probes: 20, Rest: uint64(c.n())})
	r.do(t.AddShared(r.stream, r.send(c.rows), uint64(c.n()), uint64(c.n())))
	groups, rest := r.collect(t, &c.layout, slots)
	return append(groups, reference.Combine(&c.layout, rest)...)
}

// bySingle is SP-EGA, in buffers that just suffice and after another run.
func bySingle(r *rig, k *ega.Kernels, c *caseOf) []uint64 {
	n := uint32(c.n())
	p := gputest.Keep(r.tb, func() (*reference.SinglePass, error) {
		return reference.NewSinglePass(k, reference.SinglePassConfig{Rows: max(n, 1)})
	})
	for range 2 {
		r.put(p.Tile(), c.rows)
		result, err := p.Run(r.stream, n)
		r.do(err)
		groups := r.read(result.Rows, int(result.Groups)*c.layout.Stride())
		if result.Placed > result.Groups || result.Groups > uint64(n) || result.Probed > uint64(n) {
			r.tb.Errorf("%d rows: %+v", n, result)
		}
		if n <= 1 {
			return groups
		}
		c = &caseOf{c.name, c.layout, slices.Clone(c.rows)}
	}
	result, err := p.Run(r.stream, 0) // nothing is nothing, whatever is in the buffers
	r.do(err)
	if result.Groups != 0 {
		r.tb.Errorf("%d groups of no rows", result.Groups)
	}
	r.put(p.Tile(), c.rows)
	result, err = p.Run(r.stream, n)
	r.do(err)
	return r.read(result.Rows, int(result.Groups)*c.layout.Stride())
}

// byBuckets scatters the rows on the CPU. Buckets with too many rows or groups
// are left, and combined in a Table.
func byBuckets(r *rig, k *ega.Kernels, c *caseOf) []uint64 {
	const bits, slots = 4, 40
	rows, offsets := scattered(c, bits)
	b := gputest.Keep(r.tb, func() (*reference.Buckets, error) {
		return reference.NewBuckets(k, reference.BucketsConfig{Buckets: 1 << bits, Slots: slots, Skip: bits, MostRows: 200})
	})
	out, stride := r.space(len(rows)), c.layout.Stride()
	packed := make([]uint64, len(offsets)/2+1) // two a word
	for i, o := range offsets {
		packed[i/2] |= o << (32 * (i % 2))
	}
	r.do(b.Aggregate(r.stream, r.send(rows), r.send(packed), 1<<bits, out))
	r.do(r.stream.Synchronize())
	groups, left, err := b.Count()
	r.do(err)
	got := r.read(out, int(groups)*stride)
	for _, l := range left {
		part := caseOf{layout: c.layout, rows: rows[offsets[l]*uint64(stride) : offsets[l+1]*uint64(stride)]}
		if part.n() <= slots {
			r.tb.Errorf("bucket %d was left, with %d rows", l, part.n())
		}
		got = append(got, byShared(r, k, &part)...)
	}
	return got
}

// byScattered is the scatter on the device, of rows that have what it needs.
func byScattered(r *rig, k *ega.Kernels, c *caseOf) []uint64 {
	if !c.layout.Hash && c.layout.KeyWords > 1 {
		r.tb.Skip("rows without a hash")
	}
	groups, err := r.scattered(k, c, reference.ScatteredConfig{Groups: 40_000})
	r.do(err)
	return groups
}

func (r *rig) scattered(k *ega.Kernels, c *caseOf, config reference.ScatteredConfig) ([]uint64, error) {
	r.tb.Helper()
	config.Rows = uint32(c.n())
	s := gputest.Keep(r.tb, func() (*reference.Scattered, error) { return reference.NewScattered(k, config) })
	result, err := s.Run(r.stream, r.send(c.rows), r.space(len(c.rows)), uint32(c.n()))
	if err != nil {
		return nil, err
	}
	return r.read(result.Rows, int(result.Groups)*c.layout.Stride()), nil
}

// A wrong estimate of the groups costs time only: what buckets leave goes to a
// Table, and where that is too small to a larger one. Without memory for that the rows are still there.
func TestScatteredLeft(t *testing.T) {
	r := newRig(t)
	c := caseOf{layout: ega.Pairs}
	for i := range uint64(40_000) {
		c.rows = append(c.rows, i<<40, 1)
	}
	want := reference.Combine(&c.layout, c.rows)
	k := r.load(c.layout)
	for _, slots := range []uint32{0, 100} {
		groups, err := r.scattered(k, &c, reference.ScatteredConfig{Groups: 1, LeftSlots: slots})
		r.do(err)
		r.same(&c.layout, groups, want)
	}
	emulator, emulated := emu.Control()
	if !emulated {
		return
	}
	n := uint32(c.n())
	s := gputest.Keep(t, func() (*reference.Scattered, error) {
		return reference.NewScattered(k, reference.ScatteredConfig{Rows: n, Groups: 1, LeftSlots: 100})
	})
	in, out := r.send(c.rows), r.space(len(c.rows))
	const outOfMemory = 2 // CUDA_ERROR_OUT_OF_MEMORY
	emulator.Fault("cuMemAlloc_v2", 1, outOfMemory, false)
	result, err := s.Run(r.stream, in, out, n)
	if !errors.Is(err, ega.ErrRestFull) || !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("error %v, want ErrRestFull and out of memory", err)
	}
	r.same(&c.layout, reference.Combine(&c.layout, r.read(result.Rows, len(c.rows))), want)
}

// One key with most rows: its bucket is cut into spans that many blocks take.
func TestScatteredFrequent(t *testing.T) {
	r := newRig(t)
	c := caseOf{layout: ega.Pairs}
	for i := range uint64(200_000) {
		key := uint64(7)
		if i%3 == 0 {
			key = i
		}
		c.rows = append(c.rows, key, 1)
	}
	groups, err := r.scattered(r.load(c.layout), &c, reference.ScatteredConfig{Groups: 70_000})
	r.do(err)
	r.same(&c.layout, groups, reference.Combine(&c.layout, c.rows))
}

// scattered is the rows ordered by the top bits of their hashes.
func scattered(c *caseOf, bits int) (rows, offsets []uint64) {
	l, stride := &c.layout, c.layout.Stride()
	buckets := make([][]uint64, 1<<bits)
	for row := range slices.Chunk(c.rows, stride) {
		hash := row[0]
		if !l.Hash {
			hash = reference.HashOf(row[:l.KeyWords])
		}
		b := hash >> (64 - bits)
		buckets[b] = append(buckets[b], row...)
	}
	for _, b := range buckets {
		offsets = append(offsets, uint64(len(rows)/stride))
		rows = append(rows, b...)
	}
	return rows, append(offsets, uint64(len(rows)/stride))
}

// A rest that is too small is told.
func TestRestFull(t *testing.T) {
	r := newRig(t)
	list := cases()
	c := &list[5] // 1000 pairs
	table := r.table(r.load(c.layout), ega.TableConfig{Slots: 10, Rest: 5})
	r.do(table.Add(r.stream, r.send(c.rows), uint64(c.n())))
	r.do(r.stream.Synchronize())
	if _, err := table.Count(); !errors.Is(err, ega.ErrRestFull) {
		t.Errorf("error %v, want ErrRestFull", err)
	}
}
