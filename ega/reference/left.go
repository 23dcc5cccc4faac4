package reference

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

const (
	// leftProbes keeps a row from looking at all of a full Table: at a load of 0.9 the longest of
	// 1e9 distances is 4,000 slots (by the formulas of linear probing), at a half 110.
	leftProbes = 1 << 10

	// leftRows is how many rows of a bucket one block takes at least: its table is emptied
	// before them, and its groups go to the Table behind them. Emptying
	// 7,000 slots costs a fifth of that.
	leftRows = 1 << 15

	// leftShare is how many spans there are for each block that runs at a time, so that
	// none is left alone for longer than a quarter of the time.
	leftShare = 4
)

// leftBuckets is the way of the buckets that Buckets leaves: cut into spans, each of which one
// block combines in shared memory; the groups of all meet in a Table. The bits that chose the
// bucket are skipped there: groups of few buckets are to fill all of it.
type leftBuckets struct {
	k      launcher
	config ega.TableConfig
	table  *ega.Table
	memory cuda.Pieces
	spans  cuda.Span
	most   uint64 // spans besides one a bucket
}

func (l *leftBuckets) open(k launcher, c ega.TableConfig, p bucketPlan) (err error) {
	l.k, l.config, l.memory = k, c, cuda.Pieces{Thread: k.Thread}
	l.most = uint64(leftShare * 2 * k.device.Multiprocessors)
	if err = l.memory.AllocAll(cuda.Piece{To: &l.spans, Bytes: 8 * (cuda.Size(l.most) + 1<<p.bits)}); err != nil {
		return err
	}
	l.table, err = ega.NewTable(k.Kernels, c)
	return err
}

// combine combines buckets and appends their groups to those of r. Bucket b is rows
// from[b] to from[b+1]. If the Table is too small, there is another try with one that cannot be.
func (l *leftBuckets) combine(stream *cuda.Stream, rows cuda.Span, from, buckets []uint32, r Result) (Result, error) {
	spans, n := l.cut(from, buckets)
	r.Probed = n
	if err := l.k.Thread.Write(l.spans.Slice(0, cuda.Size(len(spans))), spans); err != nil {
		return r, err
	}
	blocks := uint32(len(spans) / 8)
	groups, err := l.try(stream, l.table, rows, blocks, r)
	if errors.Is(err, ega.ErrRestFull) {
		if grown := l.grow(n); grown != nil {
			return r, errors.Join(err, grown)
		}
		groups, err = l.try(stream, l.table, rows, blocks, r)
	}
	r.Groups += groups
	return r, err
}

// cut makes the spans, as they lie in device memory, and adds up their rows. They are at most
// l.most and one a bucket.
func (l *leftBuckets) cut(from, buckets []uint32) (spans []byte, rows uint64) {
	for _, b := range buckets {
		rows += uint64(from[b+1] - from[b])
	}
	step := max(leftRows, rows/l.most+1)
	slices.Sort(buckets)
	for _, b := range buckets {
		for at := uint64(from[b]); at < uint64(from[b+1]); at += step {
			spans = binary.LittleEndian.AppendUint32(spans, uint32(at))
			spans = binary.LittleEndian.AppendUint32(spans, uint32(min(at+step, uint64(from[b+1]))))
		}
	}
	return spans, rows
}

// try returns how many groups it wrote behind those of r.
func (l *leftBuckets) try(stream *cuda.Stream, t *ega.Table, rows cuda.Span, blocks uint32, r Result) (uint64, error) {
	if err := t.Clear(stream); err != nil {
		return 0, err
	}
	if err := l.addSpans(stream, t, rows, blocks); err != nil {
		return 0, err
	}
	if err := t.Collect(stream, r.Rows.Slice(cuda.Size(r.Groups)*l.k.Layout.RowBytes(), r.Rows.Size)); err != nil {
		return 0, err
	}
	if err := stream.Synchronize(); err != nil {
		return 0, err
	}
	counts, err := t.Count()
	return counts.Groups, err
}

// addSpans is ega.Table.AddShared for some rows: each block takes those of one span, two row
// numbers of 32 bits.
func (l *leftBuckets) addSpans(s *cuda.Stream, t *ega.Table, rows cuda.Span, blocks uint32) error {
	k, view := &l.k, t.View()
	p := ega.PlanShared(&k.Layout, k.device, uint64(view.Slots))
	if p.Slots == 0 { // a table of one slot: rows go on to this one
		p.Slots, p.Probes, p.Threads = 1, 1, kernels.EgaSharedThreads/2
	}
	grid := cuda.Grid{Blocks: blocks, Threads: p.Threads, Shared: uint32(ega.SharedTable(&k.Layout, p.Slots))}
	return k.only.Spans(s, grid, k.view, rows.Ptr, l.spans.Slice(0, 8*cuda.Size(blocks)).Ptr, p.Slots, p.Probes, view, t.Rest())
}

// grow makes the Table one that n rows cannot overfill.
func (l *leftBuckets) grow(n uint64) error {
	l.config.Slots, l.config.Probes = uint32(min(n+n/2, ega.MaxSlots)), 0
	table, err := ega.NewTable(l.k.Kernels, l.config)
	if err != nil {
		return err
	}
	old := l.table
	l.table = table
	return old.Close()
}

func (l *leftBuckets) close() error {
	var err error
	if l.table != nil {
		err = l.table.Close()
	}
	l.table = nil
	return errors.Join(err, l.memory.Close())
}
