package ega_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// strategies make groups of the rows of a case.
var strategies = map[string]func(*rig, *ega.Kernels, *egatest.Case) []uint64{
	"table": byTable, "shared": byShared, "crowded": byCrowded, "single": bySingle, "buckets": byBuckets, "scattered": byScattered,
}

// Every strategy makes the same groups of the same rows as the twin.
func TestStrategies(t *testing.T) {
	list := egatest.Cases()
	for name, strategy := range strategies {
		t.Run("strategy="+name, func(t *testing.T) {
			for i := range list {
				c := &list[i]
				t.Run(c.Name, func(t *testing.T) {
					r := newRig(t)
					got := strategy(r, r.Load(c.Layout), c)
					r.Same(&c.Layout, got, reference.Combine(&c.Layout, c.Rows))
				})
			}
		})
	}
}

// byTable is the plain linear probe, with a slot for each row.
func byTable(r *rig, k *ega.Kernels, c *egatest.Case) []uint64 {
	slots := c.N() + 1
	t := r.Table(k, ega.TableConfig{Slots: uint32(slots)})
	r.Do(t.Add(r.Stream, r.Send(c.Rows), uint64(c.N())))
	groups, rest := r.Collect(t, &c.Layout, slots)
	if len(rest) > 0 {
		r.TB.Errorf("%d words in the rest", len(rest))
	}
	return groups
}

// byShared is the blocks' tables, estimated too small and too large, twice over.
func byShared(r *rig, k *ega.Kernels, c *egatest.Case) []uint64 {
	slots := c.N() + 1
	t := r.Table(k, ega.TableConfig{Slots: uint32(slots)})
	half := c.N() / 2 * c.Layout.Stride()
	r.Do(t.AddShared(r.Stream, r.Send(c.Rows[:half]), uint64(c.N()/2), 1))
	r.Do(t.AddShared(r.Stream, r.Send(c.Rows[half:]), uint64(c.N()-c.N()/2), 1<<40))
	groups, _ := r.Collect(t, &c.Layout, slots)
	return groups
}

// byCrowded has a table that is too small: what it has no slot for comes out as
// rows, among them partial groups, of keys that are not in the table.
func byCrowded(r *rig, k *ega.Kernels, c *egatest.Case) []uint64 {
	slots := c.N()/8 + 1
	t := r.Table(k, ega.TableConfig{Slots: uint32(slots), Probes: 20, Rest: uint64(c.N())})
	r.Do(t.AddShared(r.Stream, r.Send(c.Rows), uint64(c.N()), uint64(c.N())))
	groups, rest := r.Collect(t, &c.Layout, slots)
	return append(groups, reference.Combine(&c.Layout, rest)...)
}

// bySingle is SP-EGA, in buffers that just suffice and after another run.
func bySingle(r *rig, k *ega.Kernels, c *egatest.Case) []uint64 {
	n := uint32(c.N())
	p := gputest.Keep(r.TB, func() (*reference.SinglePass, error) {
		return reference.NewSinglePass(k, reference.SinglePassConfig{Rows: max(n, 1)})
	})
	for range 2 {
		r.Put(p.Tile(), c.Rows)
		result, err := p.Run(r.Stream, n)
		r.Do(err)
		groups := r.Read(result.Rows, int(result.Groups)*c.Layout.Stride())
		if result.Placed > result.Groups || result.Groups > uint64(n) || result.Probed > uint64(n) {
			r.TB.Errorf("%d rows: %+v", n, result)
		}
		if n <= 1 {
			return groups
		}
		c = &egatest.Case{Name: c.Name, Layout: c.Layout, Rows: slices.Clone(c.Rows)}
	}
	result, err := p.Run(r.Stream, 0) // no rows make no groups, even if buffers hold old rows
	r.Do(err)
	if result.Groups != 0 {
		r.TB.Errorf("%d groups of no rows", result.Groups)
	}
	r.Put(p.Tile(), c.Rows)
	result, err = p.Run(r.Stream, n)
	r.Do(err)
	return r.Read(result.Rows, int(result.Groups)*c.Layout.Stride())
}

// byBuckets scatters the rows on the CPU. Buckets with too many rows or groups
// are left, and combined in a Table.
func byBuckets(r *rig, k *ega.Kernels, c *egatest.Case) []uint64 {
	const bits, slots = 4, 40
	rows, offsets := scattered(c, bits)
	b := gputest.Keep(r.TB, func() (*reference.Buckets, error) {
		return reference.NewBuckets(k, reference.BucketsConfig{Buckets: 1 << bits, Slots: slots, Skip: bits, MostRows: 200})
	})
	out, stride := r.Space(len(rows)), c.Layout.Stride()
	packed := make([]uint64, len(offsets)/2+1) // two a word
	for i, o := range offsets {
		packed[i/2] |= o << (32 * (i % 2))
	}
	r.Do(b.Aggregate(r.Stream, r.Send(rows), r.Send(packed), 1<<bits, out))
	r.Do(r.Stream.Synchronize())
	groups, left, err := b.Count()
	r.Do(err)
	got := r.Read(out, int(groups)*stride)
	for _, l := range left {
		part := egatest.Case{Layout: c.Layout, Rows: rows[offsets[l]*uint64(stride) : offsets[l+1]*uint64(stride)]}
		if part.N() <= slots {
			r.TB.Errorf("bucket %d was left, with %d rows", l, part.N())
		}
		got = append(got, byShared(r, k, &part)...)
	}
	return got
}

// byScattered is the scatter on the device, of rows that have what it needs.
func byScattered(r *rig, k *ega.Kernels, c *egatest.Case) []uint64 {
	if !c.Layout.Hash && c.Layout.KeyWords > 1 {
		r.TB.Skip("rows without a hash")
	}
	groups, err := r.scattered(k, c, reference.ScatteredConfig{Groups: 40_000})
	r.Do(err)
	return groups
}

func (r *rig) scattered(k *ega.Kernels, c *egatest.Case, config reference.ScatteredConfig) ([]uint64, error) {
	r.TB.Helper()
	config.Rows = uint32(c.N())
	s := gputest.Keep(r.TB, func() (*reference.Scattered, error) { return reference.NewScattered(k, config) })
	result, err := s.Run(r.Stream, r.Send(c.Rows), r.Space(len(c.Rows)), uint32(c.N()))
	if err != nil {
		return nil, err
	}
	return r.Read(result.Rows, int(result.Groups)*c.Layout.Stride()), nil
}

// A wrong estimate of the groups costs time only: what buckets leave goes to a Table, and where
// that is too small to a larger one. Without memory for that the rows are still there.
func TestScatteredLeft(t *testing.T) {
	r := newRig(t)
	c := egatest.Case{Layout: ega.Pairs}
	for i := range uint64(40_000) {
		c.Rows = append(c.Rows, i<<40, 1)
	}
	want := reference.Combine(&c.Layout, c.Rows)
	k := r.Load(c.Layout)
	for _, slots := range []uint32{0, 100} {
		groups, err := r.scattered(k, &c, reference.ScatteredConfig{Groups: 1, LeftSlots: slots})
		r.Do(err)
		r.Same(&c.Layout, groups, want)
	}
	emulator, emulated := emu.Control()
	if !emulated {
		return
	}
	n := uint32(c.N())
	s := gputest.Keep(t, func() (*reference.Scattered, error) {
		return reference.NewScattered(k, reference.ScatteredConfig{Rows: n, Groups: 1, LeftSlots: 100})
	})
	in, out := r.Send(c.Rows), r.Space(len(c.Rows))
	const outOfMemory = 2 // CUDA_ERROR_OUT_OF_MEMORY
	emulator.Fault("cuMemAlloc_v2", 1, outOfMemory, false)
	result, err := s.Run(r.Stream, in, out, n)
	if !errors.Is(err, ega.ErrRestFull) || !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("error %v, want ErrRestFull and out of memory", err)
	}
	r.Same(&c.Layout, reference.Combine(&c.Layout, r.Read(result.Rows, len(c.Rows))), want)
}

// One key with most rows: its bucket is cut into spans that many blocks take.
func TestScatteredFrequent(t *testing.T) {
	r := newRig(t)
	c := egatest.Case{Layout: ega.Pairs}
	for i := range uint64(200_000) {
		key := uint64(7)
		if i%3 == 0 {
			key = i
		}
		c.Rows = append(c.Rows, key, 1)
	}
	groups, err := r.scattered(r.Load(c.Layout), &c, reference.ScatteredConfig{Groups: 70_000})
	r.Do(err)
	r.Same(&c.Layout, groups, reference.Combine(&c.Layout, c.Rows))
}

// scattered is the rows ordered by the top bits of their hashes.
func scattered(c *egatest.Case, bits int) (rows, offsets []uint64) {
	l, stride := &c.Layout, c.Layout.Stride()
	buckets := make([][]uint64, 1<<bits)
	for row := range slices.Chunk(c.Rows, stride) {
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

// A rest with too little room is an error.
func TestRestFull(t *testing.T) {
	r := newRig(t)
	list := egatest.Cases()
	c := &list[5] // 1000 pairs
	table := r.Table(r.Load(c.Layout), ega.TableConfig{Slots: 10, Rest: 5})
	r.Do(table.Add(r.Stream, r.Send(c.Rows), uint64(c.N())))
	r.Do(r.Stream.Synchronize())
	if _, err := table.Count(); !errors.Is(err, ega.ErrRestFull) {
		t.Errorf("error %v, want ErrRestFull", err)
	}
}
