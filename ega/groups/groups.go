package groups

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Config says of what Groups are made, and how much memory they may take.
type Config struct {
	Context *cuda.Context
	Layout  *ega.Layout
	Table   *ega.Table    // its rows are the groups, each a whole row; Groups closes it
	Values  Values        // of lists; Groups free them
	Bits    uint          // 2^Bits partitions; at most MostBits
	Host    budget.Lender // of the host's memory; nil: there is no limit

	Room      cuda.Size // device memory beside the table and the values
	Readers   int       // that there may be at a time
	ReadBytes cuda.Size // what each of the two pinned buffers of a reader may take
}

// Values holds the values of all lists on the device, in the order of their groups.
type Values struct {
	Memory cuda.Pieces
	Lists  []cuda.Span
}

// Groups holds groups on the device, each in one row. Reader and Partition may be called from any
// goroutine. The readers are closed before Groups.
type Groups struct {
	config Config
	room   cuda.Size // of config.Room, without what positions of buckets take
	row    cuda.Size
	view   kernels.EgaLayout
	order  *kernels.EgaOrder
	count  uint64 // of groups
	fine   uint   // 2^fine fine buckets
	shift  uint   // 2^shift of them are a bucket; there are 2^config.Bits buckets or more
	drawn  int64  // of the host's budget, for from

	reach uint32 // no row lies so many slots or more from where its hash begins
	// by bucket: how many groups the buckets before it have; and how many there are. nil before
	// Locate
	from   []uint32
	memory cuda.Pieces // of places and buffers
	places cuda.Span   // the same by fine bucket, on the device

	lent    cuda.Span      // on the device: the memory of all buffers
	buffers chan cuda.Span // two pieces each, for readers that are not open
}

// New takes over the groups of a table, and counts them. No work on the table may be under way.
// After an error the table and the values are closed.
func New(t *cuda.Thread, s *cuda.Stream, c Config) (*Groups, error) {
	c.Table.Move(t)
	count, err := c.Table.Groups(s)
	g := counted(c, count)
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// counted is New of so many groups.
func counted(c Config, count uint64) *Groups {
	g := &Groups{config: c, room: c.Room, row: c.Layout.RowBytes(), view: c.Layout.View(), order: kernels.NewEgaOrder(c.Context), count: count}
	g.divide()
	return g
}

// divide chooses how many buckets there are, and reserves the memory for their positions. There are
// fewer if memory is short.
func (g *Groups) divide() {
	least := g.config.Bits
	for g.fine = fineBits(g.config.Table.View().Slots, least); g.fine > 1; g.fine-- {
		g.shift = min(g.mostShift(), g.fine-min(g.fine, max(least, leastBucketBits)))
		if placesBytes(g.fine, g.shift) <= g.room/placesShare && g.draw(int64(placesSize(g.fine-g.shift))) {
			break
		}
	}
	g.room -= min(g.room, placesBytes(g.fine, g.shift))
}

// mostShift is the most of shift: buckets, which are handed out whole, are no larger than parts and
// buffers.
func (g *Groups) mostShift() uint {
	fines := min(partBytes, g.deviceBuffer()) / (2 * fineSlots * g.row)
	return min(bucketShift, uint(bits.Len64(uint64(fines)|1))-1)
}

// fineBits is the number of hash bits by which the slots of a table are divided into fine buckets,
// at least `least`.
func fineBits(slots uint32, least uint) uint {
	return max(min(uint(bits.Len32(slots/fineSlots|1))-1, MostBits), least, 1)
}

// placesBytes is the device memory for the positions of 2^fine fine buckets, for those of buckets
// of 2^shift of them, and for computing them.
func placesBytes(fine, shift uint) cuda.Size {
	return cuda.Allocated(placesSize(fine), placesSize(fine-shift), sumsSize(fine))
}

// placesSize is the size of the positions of 2^bits buckets.
func placesSize(bits uint) cuda.Size { return 4 * (cuda.Size(1)<<bits + 1) }

// sumsSize is the size of the words of the blocks that add up, and one for the reach.
func sumsSize(fine uint) cuda.Size { return 8 * (cuda.Size(kernels.OrderFrom(1<<fine).Blocks) + 1) }

// Locate finds where in the table the groups of each bucket are. It goes over the table, so it is
// left until somebody wants all groups in order.
func (g *Groups) Locate(t *cuda.Thread, s *cuda.Stream) error {
	var sums, coarse cuda.Span
	g.memory.Thread = t
	err := g.memory.AllocAll(
		cuda.Piece{To: &g.places, Bytes: placesSize(g.fine)},
		cuda.Piece{To: &coarse, Bytes: placesSize(g.fine - g.shift)},
		cuda.Piece{To: &sums, Bytes: sumsSize(g.fine)},
	)
	if err != nil {
		return err
	}
	table, reach := g.config.Table.View(), sums.Slice(0, 8)
	err = errors.Join(
		s.Fill(g.places, 0),
		s.Fill(sums, 0),
		g.order.Count(s, kernels.OrderCount(table.Slots), g.view, table, uint32(g.fine), g.places.Ptr, reach.Ptr),
		g.order.From(s, kernels.OrderFrom(1<<g.fine), uint32(g.fine), uint32(g.shift), g.places.Ptr, coarse.Ptr, sums.Ptr+8),
		s.Synchronize(),
	)
	if err != nil {
		return err
	}
	far, err := t.ReadWords(reach, 1)
	if err != nil {
		return err
	}
	from := make([]uint32, 1<<(g.fine-g.shift)+1)
	if err := t.Read(asBytes(from), coarse); err != nil {
		return err
	}
	g.reach, g.from = uint32(far[0]), from
	if invariant.Enabled {
		invariant.Check(uint64(from[len(from)-1]) == g.count, "each group is in a bucket")
	}
	return nil
}

// draw draws bytes of the host's budget. It returns false if they are refused.
func (g *Groups) draw(bytes int64) bool {
	if budget.Or(g.config.Host).Draw(bytes) != nil {
		return false
	}
	g.drawn = bytes
	return true
}

// deviceBuffer is the most device memory that a piece may take.
func (g *Groups) deviceBuffer() cuda.Size {
	return g.room / cuda.Size(2*g.config.Readers) / cuda.AllocUnit * cuda.AllocUnit
}

// pieceBytes is the size of a buffer for a piece.
func (g *Groups) pieceBytes() cuda.Size {
	most := uint64(0)
	for p := range 1 << g.config.Bits {
		most = max(most, g.Partition(p))
	}
	share := max(cuda.Size(most)*g.row/readPieces, readLeast)
	return cuda.Allocated(max(min(share, g.config.ReadBytes, g.deviceBuffer()), g.row))
}

// Readable reports whether there is room to read partitions.
func (g *Groups) Readable() bool { return g.fine >= g.config.Bits && g.deviceBuffer() >= g.row }

// Open locates the groups and makes the buffers of all readers: smaller ones if others have taken
// the memory.
func (g *Groups) Open() error {
	return g.config.Context.OnStream(func(t *cuda.Thread, s *cuda.Stream) error {
		if err := g.Locate(t, s); err != nil {
			return fmt.Errorf("locate groups: %w", err)
		}
		return g.lend()
	})
}

// lend makes the buffers of all readers.
func (g *Groups) lend() error {
	each := 2 * g.pieceBytes()
	all, err := g.memory.Alloc(cuda.Size(g.config.Readers) * each)
	for errors.Is(err, cuda.ErrOutOfMemory) && each/4 >= cuda.Allocated(g.row) {
		each = 2 * cuda.Allocated(each/4)
		all, err = g.memory.Alloc(cuda.Size(g.config.Readers) * each)
	}
	if err != nil {
		return fmt.Errorf("buffers for readers of groups: %w", err)
	}
	g.lent, g.buffers = all, make(chan cuda.Span, g.config.Readers)
	for at := cuda.Size(0); at < all.Size; at += each {
		g.buffers <- all.Slice(at, at+each)
	}
	return nil
}

// Len is how many groups there are.
func (g *Groups) Len() uint64 { return g.count }

// Partition is how many groups partition p has.
func (g *Groups) Partition(p int) uint64 {
	first, end := g.buckets(p)
	return uint64(g.from[end] - g.from[first])
}

// buckets returns the buckets of a partition: from first on, before end.
func (g *Groups) buckets(p int) (first, end int) {
	shift := g.BucketBits() - g.config.Bits
	return p << shift, (p + 1) << shift
}

// Bits is the number of top hash bits by which groups are divided into partitions.
func (g *Groups) Bits() uint { return g.config.Bits }

// BucketBits is the number of top hash bits by which groups are divided into buckets, and the most
// by which a Walk divides them.
func (g *Groups) BucketBits() uint { return g.fine - g.shift }

// Room is the device memory that is left for reading.
func (g *Groups) Room() cuda.Size { return g.room }

// Close frees the memory. A second call does nothing.
func (g *Groups) Close() error {
	if g.config.Table == nil {
		return nil
	}
	table := g.config.Table
	g.config.Table = nil
	if g.drawn > 0 {
		budget.Or(g.config.Host).Release(g.drawn)
	}
	return g.config.Context.Closing(func() error { return errors.Join(g.memory.Close(), g.config.Values.Memory.Close(), table.Close()) })
}
