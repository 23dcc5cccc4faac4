// Package reference holds a scatter of rows on the device that no query uses. The chains of pages
// of package partition/ondevice are measured against it (bench/scatter), and it is the first half
// of a strategy of ega/reference. It is not part of the program.
package reference

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/partition/ondevice"
)

// DeviceScatter divides rows in device memory so that each partition lies in one piece (paper 003,
// §4.2.5): partition 0 first, in whatever order within it. Rows are read twice and written
// once for each level, of which there are two above 2^ScatterMostBits partitions. Like its thread
// it is used on one goroutine, and one division is under way at a time: its counters are in use
// until the stream is done.
type DeviceScatter struct {
	thread  *cuda.Thread
	kernels *kerneltest.EgaScatter
	rows    ondevice.Rows
	most    int
	memory  *cuda.Memory
	levels  []scatterLevel
}

// scatterLevel is one pass over all rows.
type scatterLevel struct {
	skip, bits uint   // of the hash
	segments   uint32 // what is divided: the partitions of the level before
	tile       uint32 // rows of a tile

	from   cuda.Span // segments + 1 rows: where each begins
	tiles  cuda.Span // segments + 1: tiles of the segments before
	counts cuda.Span // the same for the tiles that are counted
	next   cuda.Span // segments << bits: rows, then where the next ones go
	out    cuda.Span // the next level's from, or the outcome
}

// Divided is the outcome of a division.
type Divided struct {
	// Rows is where the rows are: one of the two spans that Scatter was given.
	Rows cuda.Span
	// From is 2^Bits + 1 row numbers of 32 bits: partition p is the rows From[p]
	// to From[p+1]. It is the DeviceScatter's, and valid until its next Scatter.
	From cuda.Span
}

// scatterPerPartition is the bytes of shared memory that a partition takes while
// rows are moved: where its part begins, and where that goes.
const scatterPerPartition = 8

// NewDeviceScatter allocates what divisions of at most `most` rows need beside
// the rows. k is kept, not owned: the caller closes it, after the DeviceScatter.
// Errors: cuda.ErrOutOfMemory, and those of Validate.
func NewDeviceScatter(t *cuda.Thread, k *kerneltest.EgaScatter, rows ondevice.Rows, most int) (*DeviceScatter, error) {
	err := rows.Validate()
	if most < 0 || uint64(most) >= maxDeviceRows {
		err = errors.Join(err, fmt.Errorf("%d rows: not 0 to %d", most, uint64(maxDeviceRows)-1))
	}
	if err != nil {
		return nil, fmt.Errorf("scatter on the device: %w", err)
	}
	s := &DeviceScatter{thread: t, kernels: k, rows: rows, most: most}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("scatter on the device: %w", err), s.Close())
	}
	return s, nil
}

// maxDeviceRows is more than the rows of one call: kernels number them by 32 bits, and some
// count a tile more.
const maxDeviceRows = 1<<32 - 1<<20

// open makes the levels and their memory.
func (s *DeviceScatter) open() error {
	left := s.rows.Bits
	segments, skip := uint32(1), s.rows.Skip
	for len(s.levels) == 0 || left > 0 {
		chosen := left
		if left > kernels.ScatterMostBits {
			chosen = (left + 1) / 2 // two halves: neither level has parts shorter than it must
		}
		s.levels = append(s.levels, scatterLevel{
			skip: skip, bits: chosen, segments: segments,
			tile: s.rows.BlockRows(s.thread, chosen, scatterPerPartition),
		})
		segments, skip, left = segments<<chosen, skip+chosen, left-chosen
	}
	return s.allocate()
}

// allocate cuts one piece of memory into what the levels need.
func (s *DeviceScatter) allocate() (err error) {
	for pass := range 2 { // the first one adds up
		at := cuda.Size(0)
		cut := func(span *cuda.Span, words uint32) {
			if pass == 1 {
				*span = s.memory.Span().Slice(at, at+4*cuda.Size(words))
			}
			at += 4 * cuda.Size(words)
		}
		for i := range s.levels {
			l := &s.levels[i]
			if i == 0 {
				cut(&l.from, l.segments+1)
			} else {
				l.from = s.levels[i-1].out
			}
			cut(&l.tiles, l.segments+1)
			cut(&l.counts, l.segments+1)
			cut(&l.next, l.segments<<l.bits)
			cut(&l.out, l.segments<<l.bits+1)
		}
		if pass == 0 {
			if s.memory, err = s.thread.Alloc(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// Scatter queues the division of the first n rows of src. dst is as large, and
// they do not overlap; both are written if there are two levels. What is in
// them behind the rows stays as it is.
func (s *DeviceScatter) Scatter(stream *cuda.Stream, src, dst cuda.Span, n int) (Divided, error) {
	if n > s.most {
		return Divided{}, fmt.Errorf("scatter on the device: %d rows, made for %d", n, s.most)
	}
	if err := errors.Join(s.rows.Fits("scatter from", src, n), s.rows.Fits("scatter to", dst, n)); err != nil {
		return Divided{}, err
	}
	first := s.levels[0].from
	if err := errors.Join(stream.Fill32(first.Slice(0, 4), 0), stream.Fill32(first.Slice(4, 8), uint32(n))); err != nil {
		return Divided{}, err
	}
	for i := range s.levels {
		if err := s.level(stream, &s.levels[i], src, dst, n); err != nil {
			return Divided{}, err
		}
		src, dst = dst, src
	}
	return Divided{Rows: src, From: s.levels[len(s.levels)-1].out}, nil
}

// level queues the kernels of one level.
func (s *DeviceScatter) level(stream *cuda.Stream, l *scatterLevel, src, dst cuda.Span, n int) error {
	move := kernels.ScatterLevel{
		Rows: s.rows.View(src, n, l.skip, l.bits, l.tile),
		From: l.from.Ptr, Tiles: l.tiles.Ptr, Next: l.next.Ptr, Segments: l.segments,
	}
	count := move
	count.Tiles, count.Rows.Most = l.counts.Ptr, kerneltest.ScatterCountRows
	for _, step := range []func() error{
		func() error { return stream.Fill32(l.next, 0) },
		func() error { return s.kernels.Tiles(stream, kerneltest.TilesGrid(), count) },
		func() error { return s.kernels.Tiles(stream, kerneltest.TilesGrid(), move) },
		func() error {
			return s.kernels.Count(stream, kerneltest.CountGrid(mostTiles(n, count.Rows.Most, l.segments), uint32(l.bits)), count)
		},
		func() error {
			return s.kernels.Prefix(stream, kerneltest.PrefixGrid(l.segments, uint32(l.bits)), move, l.out.Ptr)
		},
		func() error { return s.move()(stream, s.grid(l, n), move, dst.Ptr) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// move is the kernel that moves rows of this many words.
func (s *DeviceScatter) move() func(*cuda.Stream, cuda.Grid, kernels.ScatterLevel, cuda.Ptr) error {
	switch {
	case s.rows.Stride == 2:
		return s.kernels.Pairs
	case s.rows.Stride%2 == 0:
		return s.kernels.Even
	default:
		return s.kernels.Odd
	}
}

func (s *DeviceScatter) grid(l *scatterLevel, n int) cuda.Grid {
	return kernels.ScatterGrid(mostTiles(n, l.tile, l.segments), l.tile, uint32(s.rows.Stride), uint32(l.bits), scatterPerPartition)
}

// mostTiles is how many tiles n rows have at most: each segment has one that is not
// full. Blocks without a tile end at once.
func mostTiles(n int, tile, segments uint32) uint32 { return uint32(n)/tile + segments }

// From reads where the partitions of a division begin, 2^Bits + 1 row numbers.
// The stream of its Scatter must be done.
func (s *DeviceScatter) From(d Divided) ([]uint32, error) {
	return ondevice.ReadWords(s.thread, d.From)
}

// Close frees the memory. Work that uses it must have ended. A second call does
// nothing.
func (s *DeviceScatter) Close() error {
	if s.memory == nil {
		return nil
	}
	memory := s.memory
	s.memory = nil
	return memory.Close()
}
