package firstpass

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Groups is the groups that a pass left on the device, each in one place, whole. They stay in the pass's table, where they lie
// almost in order of their hashes: these divide them by their top bits into partitions, and each partition by the bits that follow into
// fine buckets, which leave the table bucket by bucket, in order (ega_order.cu). Reader and Partition are called from any
// goroutine. Close comes after the readers'.
type Groups struct {
	context *cuda.Context
	host    func(int64) error // budget of the host's memory; may be nil

	table  *ega.Table
	reach  uint32 // no row lies so many slots or more from where its hash begins
	view   kernels.EgaLayout
	order  *kernels.EgaOrder
	memory cuda.Pieces // of places and buffers
	places cuda.Span   // from, on the device

	row   cuda.Size
	bits  uint     // 2^bits partitions
	fine  uint     // 2^fine buckets; at least bits
	from  []uint32 // by bucket: how many groups the buckets before it have; and how many there are
	drawn int64    // of the host's budget, for from

	lists listValues

	room      cuda.Size      // of the device's memory, for those who read
	readers   int            // that there may be
	readBytes cuda.Size      // what each of the two buffers of a reader may take
	buffers   chan cuda.Span // on the device, for two pieces each: of the readers that there are not
}

const (
	// fineSlots is how many slots there are for a fine bucket, or up to twice as many: few, that its rows are soon put in order, and enough
	// that numbers of buckets are a small part of the rows. A guess.
	fineSlots = 32

	// mostBits is the most of Finish, and of fine buckets, whose numbers take 256 MiB then.
	mostBits = 26

	// placesShare: the numbers of buckets have up to one of so many parts of the memory beside the table. A guess.
	placesShare = 4
)

// fineBits is how many bits of the hash the slots of a table are divided by, at least as many as the caller wants.
func fineBits(slots uint32, least uint) uint {
	return max(min(uint(bits.Len32(slots/fineSlots|1))-1, mostBits), least, 1)
}

// placesBytes is the device memory for the numbers of so many buckets, and for making them.
func placesBytes(fine uint) cuda.Size {
	return cuda.Allocated(placesSize(fine)) + cuda.Allocated(sumsSize(fine))
}

func placesSize(fine uint) cuda.Size { return 4 * (cuda.Size(1)<<fine + 1) }

func sumsSize(fine uint) cuda.Size { return 8 * cuda.Size(kernels.OrderFrom(1<<fine).Blocks) }

// place finds out how many groups each fine bucket has: as many buckets as there is memory for their numbers.
func (g *Groups) place(t *cuda.Thread, s *cuda.Stream) error {
	for g.fine = fineBits(g.table.View().Slots, g.bits); g.fine > 1; g.fine-- {
		if placesBytes(g.fine) <= g.room/placesShare && g.draw(int64(placesSize(g.fine))) {
			break
		}
	}
	g.room -= min(g.room, placesBytes(g.fine))
	var sums cuda.Span
	g.memory.Thread = t
	if err := g.memory.AllocAll(cuda.Piece{To: &g.places, Bytes: placesSize(g.fine)}, cuda.Piece{To: &sums, Bytes: sumsSize(g.fine)}); err != nil {
		return err
	}
	if err := g.findReach(s, sums.Slice(0, 8)); err != nil {
		return err
	}
	err := errors.Join(
		s.Fill(sums, 0),
		g.order.From(s, kernels.OrderFrom(1<<g.fine), g.view, g.table.View(), g.reach, uint32(g.fine), g.places.Ptr, sums.Ptr),
		s.Synchronize(),
	)
	if err != nil {
		return err
	}
	g.from = make([]uint32, 1<<g.fine+1)
	return t.Read(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(g.from))), placesSize(g.fine)), g.places)
}

// findReach has kernels look for the rows of a bucket no farther than any lies. word is memory for the answer.
func (g *Groups) findReach(s *cuda.Stream, word cuda.Span) error {
	view := g.table.View()
	if err := errors.Join(s.Fill(word, 0), g.order.Reach(s, kernels.OrderReach(view.Slots), g.view, view, word.Ptr), s.Synchronize()); err != nil {
		return err
	}
	far, err := g.memory.Thread.ReadWords(word, 1)
	if err == nil {
		g.reach = uint32(far[0])
	}
	return err
}

// draw takes some of the host's budget, or reports that it is refused.
func (g *Groups) draw(bytes int64) bool {
	if g.host != nil {
		if g.host(bytes) != nil {
			return false
		}
		g.drawn = bytes
	}
	return true
}

// A piece that crosses is a share of a partition, so that the next one crosses while one is read, and pinning memory for it
// takes no longer than that; but no less than what keeps the link busy. Guesses.
const (
	readPieces = 4
	readLeast  = 256 << 10
)

// deviceBuffer is the most device memory for a piece.
func (g *Groups) deviceBuffer() cuda.Size {
	return g.room / cuda.Size(2*g.readers) / cuda.AllocUnit * cuda.AllocUnit
}

// pieceBytes is the size of a buffer for a piece.
func (g *Groups) pieceBytes() cuda.Size {
	most := uint64(0)
	for p := range 1 << g.bits {
		most = max(most, g.Partition(p))
	}
	share := max(cuda.Size(most)*g.row/readPieces, readLeast)
	return cuda.Allocated(max(min(share, g.readBytes, g.deviceBuffer()), g.row))
}

// readable reports whether there is room to read partitions.
func (g *Groups) readable() bool { return g.fine >= g.bits && g.deviceBuffer() >= g.row }

// open makes the buffers of all readers: smaller ones if somebody else has the memory.
func (g *Groups) open() error {
	each := 2 * g.pieceBytes()
	all, err := g.memory.Alloc(cuda.Size(g.readers) * each)
	for errors.Is(err, cuda.ErrOutOfMemory) && each/4 >= cuda.Allocated(g.row) {
		each = 2 * cuda.Allocated(each/4)
		all, err = g.memory.Alloc(cuda.Size(g.readers) * each)
	}
	if err != nil {
		return fmt.Errorf("buffers for readers of groups: %w", err)
	}
	g.buffers = make(chan cuda.Span, g.readers)
	for at := cuda.Size(0); at < all.Size; at += each {
		g.buffers <- all.Slice(at, at+each)
	}
	return nil
}

// Len is how many groups there are.
func (g *Groups) Len() uint64 { return uint64(g.from[len(g.from)-1]) }

// Partition is how many groups partition p has.
func (g *Groups) Partition(p int) uint64 {
	first, end := g.buckets(p)
	return uint64(g.from[end] - g.from[first])
}

// buckets is the fine buckets of a partition, from first to before end.
func (g *Groups) buckets(p int) (first, end int) {
	return p << (g.fine - g.bits), (p + 1) << (g.fine - g.bits)
}

// stretch is groups that leave the table together: those of the buckets from first to before end. Or, end being first, `rows` groups of
// this bucket, behind `skip` others.
type stretch struct {
	first, end int
	skip, rows uint32
}

// stretch is as many of the buckets from first to before end as so many rows have room for, none perhaps.
func (g *Groups) stretch(first, end int, room uint32) stretch {
	last := first
	for last < end && g.from[last+1]-g.from[first] <= room {
		last++
	}
	return stretch{first: first, end: last, rows: g.from[last] - g.from[first]}
}

// windows calls do with the groups of a bucket, as many as so many rows have room for at a time.
func (g *Groups) windows(bucket int, room uint32, do func(stretch) error) error {
	all := g.from[bucket+1] - g.from[bucket]
	for skip := uint32(0); skip < all; skip += min(room, all-skip) {
		if err := do(stretch{bucket, bucket, skip, min(room, all-skip)}); err != nil {
			return err
		}
	}
	return nil
}

// take queues that groups are copied from the table to the start of some memory.
func (g *Groups) take(s *cuda.Stream, what stretch, to cuda.Span) (cuda.Span, error) {
	to = to.Slice(0, cuda.Size(what.rows)*g.row)
	buckets := uint32(max(what.end-what.first, 1))
	return to, g.order.Take(
		s, kernels.OrderTake(buckets), g.view, g.table.View(), g.reach, uint32(g.fine), g.places.Ptr, uint32(what.first), buckets, what.skip, what.rows, to.Ptr)
}

// Close frees the memory. A second call does nothing.
func (g *Groups) Close() error {
	if g.table == nil {
		return nil
	}
	table := g.table
	g.table = nil
	if g.drawn > 0 {
		_ = g.host(-g.drawn) // only asking for more can fail
	}
	return g.context.Closing(func() error { return errors.Join(g.memory.Close(), g.lists.memory.Close(), table.Close()) })
}
