package reference

import (
	"encoding/binary"
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// BucketsConfig is the shape of a Buckets.
type BucketsConfig struct {
	Buckets uint32 // the most at once
	Slots   uint32 // of a block's table: groups of a bucket, at most; see ega.SharedSlots
	Threads uint32 // of a block: a multiple of 32 up to 1024; 0: 512
	Skip    uint32 // top bits of the hash that chose the bucket, below 32
	// MostRows is the most rows of a bucket that one block should read; 0: any. One block
	// reads some gigabytes a second, so a bucket that holds a good part of all rows is
	// better shared among all blocks (ega.Table.AddShared).
	MostRows uint64
}

// Buckets aggregates buckets: rows next to each other that hold all rows of
// their keys. Each is combined by one block in shared memory.
type Buckets struct {
	k      launcher
	config BucketsConfig
	memory cuda.Pieces
	left   cuda.Span // numbers of buckets
	counts cuda.Span // groups: 8 bytes, buckets left: 4
}

// NewBuckets allocates what an aggregation needs beside rows and output. loaded is
// kept, not owned. Errors: cuda.ErrOutOfMemory, and that slots do not fit into
// shared memory.
func NewBuckets(loaded *ega.Kernels, c BucketsConfig) (*Buckets, error) {
	k := newLauncher(loaded)
	if need := ega.SharedTable(&k.Layout, c.Slots); c.Slots < 1 || need > k.sharedBytes() {
		return nil, fmt.Errorf("buckets: %d slots take %v of shared memory, a block has %v", c.Slots, need, k.sharedBytes())
	}
	if c.Skip >= 32 {
		return nil, fmt.Errorf("buckets: %d skipped hash bits", c.Skip)
	}
	b := &Buckets{k: k, config: c, memory: cuda.Pieces{Thread: k.Thread}}
	if c.MostRows == 0 {
		b.config.MostRows = 1<<64 - 1
	}
	if c.Threads == 0 {
		b.config.Threads = kernels.EgaSharedThreads / bucketShare
	}
	if err := b.memory.AllocAll(cuda.Piece{To: &b.left, Bytes: 4 * cuda.Size(c.Buckets)}, cuda.Piece{To: &b.counts, Bytes: 16}); err != nil {
		return nil, fmt.Errorf("buckets: %w", err)
	}
	return b, nil
}

// Aggregate writes the groups of the buckets to out, dense, those of one bucket
// together. Bucket b is rows offsets[b] to offsets[b+1] (32 bits each, in device
// memory). out has room for as many rows as there are. Rows stay as they are.
func (b *Buckets) Aggregate(s *cuda.Stream, rows, offsets cuda.Span, buckets uint32, out cuda.Span) error {
	if buckets > b.config.Buckets {
		panic(fmt.Sprintf("reference: %d buckets, not %d at most", buckets, b.config.Buckets))
	}
	if err := s.Fill(b.counts, 0); err != nil {
		return err
	}
	in := kerneltest.EgaBuckets{
		Rows: rows.Ptr, Offsets: offsets.Slice(0, 4*(cuda.Size(buckets)+1)).Ptr, Buckets: buckets, Skip: b.config.Skip,
		Slots: b.config.Slots, Probes: b.config.Slots, Most: b.config.MostRows,
		Out: out.Ptr, OutCount: b.counts.Ptr, Left: b.left.Ptr, LeftCount: b.counts.Slice(8, 12).Ptr,
	}
	grid := cuda.Grid{
		Blocks: max(buckets, 1), Threads: b.config.Threads,
		Shared: uint32(ega.SharedTable(&b.k.Layout, b.config.Slots)),
	}
	return b.k.only.Buckets(s, grid, b.k.view, in)
}

// Count tells, once the stream is done, how many groups were written, and which
// buckets were left out whole: they have too many rows or groups. Their rows go
// another way, as ega.Table.AddShared.
func (b *Buckets) Count() (groups uint64, left []uint32, err error) {
	words, err := b.memory.Thread.ReadWords(b.counts, 2)
	if err != nil {
		return 0, nil, err
	}
	left = make([]uint32, uint32(words[1]))
	if len(left) == 0 {
		return words[0], nil, nil
	}
	raw := make([]byte, 4*len(left))
	if err := b.k.Thread.Read(raw, b.left.Slice(0, cuda.Size(len(raw)))); err != nil {
		return 0, nil, err
	}
	for i := range left {
		left[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return words[0], left, nil
}

// Close frees the memory. A second call does nothing.
func (b *Buckets) Close() error { return b.memory.Close() }
