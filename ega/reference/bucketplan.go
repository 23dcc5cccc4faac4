package reference

import (
	"math/bits"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/partition/ondevice"
)

// bucketPlan is how rows are divided into buckets for blocks.
type bucketPlan struct {
	bits    uint   // of the hash: 2^bits buckets
	slots   uint32 // of a block's table
	threads uint32
}

const (
	// bucketLoad is how full a block's table is on average. Searches are short up to here: at .55
	// combining took twice as long as at .27 (docs/experiments/0006). Buckets vary by the square
	// root of their groups, so that hardly any has more groups than slots.
	bucketLoad = 0.45

	// bucketShare is how many blocks share a multiprocessor where tables need not be
	// larger: while some wait at a barrier, others read.
	bucketShare = 4

	// bucketSkew is how many times the rows of the average bucket one block reads. More are
	// shared among blocks (leftBuckets). One and four were slower (docs/experiments/0006).
	bucketSkew = 2

	// bucketLeast is how many rows one block reads in any case: emptying its table of 7,000 slots
	// costs a tenth of that.
	bucketLeast = 1 << 16

	// bucketMany is how many buckets a multiprocessor has at least, if there are rows for them:
	// fewer would leave some of its blocks idle, and more make the scatter slower
	// (docs/experiments/0006).
	bucketMany = 3

	// bucketLevel is the most bits of one scatter: its parts get short, and at one bit more it
	// takes half as long again, as long as two scatters of half the bits (docs/experiments/0006).
	bucketLevel = 10

	// bucketRows is how many rows are worth a bucket of their own: about as many as its table has
	// slots to be emptied.
	bucketRows = 1 << 13
)

// planBuckets decides into how many buckets rows of so many groups are divided:
// as few as tables in shared memory and the number of multiprocessors allow, and by one scatter
// rather than two.
func planBuckets(l *ega.Layout, d cuda.Device, rows, groups uint64) bucketPlan {
	p := planTables(l, d, groups)
	busy := bits.Len(uint(bucketMany*d.Multiprocessors - 1))
	p.bits = max(p.bits, uint(min(busy, bits.Len64(rows/bucketRows))))
	return p
}

// planTables looks at the tables only.
func planTables(l *ega.Layout, d cuda.Device, groups uint64) bucketPlan {
	var p bucketPlan
	for share := bucketShare; share >= 1; share /= 2 {
		if p = planShare(l, d, groups, share); p.bits <= bucketLevel {
			return p
		}
	}
	p = planShare(l, d, groups, bucketShare)
	p.bits = min(max(p.bits, kernels.ScatterMostBits+1), ondevice.MaxBits)
	return p
}

// planShare is the plan for so many blocks a multiprocessor.
func planShare(l *ega.Layout, d cuda.Device, groups uint64, share int) bucketPlan {
	memory := min(d.SharedPerMultiprocessor/cuda.Size(share), d.SharedPerBlock)
	slots := ega.SharedSlots(l, memory-min(memory, kernels.EgaStaticShared))
	return bucketPlan{bits: bucketBits(groups, slots), slots: slots, threads: uint32(min(kernels.EgaSharedThreads/share, kernels.EgaBlockThreads))}
}

// bucketBits is how many bits divide groups into buckets for tables of so many slots.
func bucketBits(groups uint64, slots uint32) uint {
	room := uint64(bucketLoad*float64(slots)) + 1
	return uint(bits.Len64((groups+room-1)/room - min(1, groups)))
}
