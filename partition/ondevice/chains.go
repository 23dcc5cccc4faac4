package ondevice

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Chains is partitions on the device, each a chain of pages that kernels take from a pool while
// they fill them (paper 000, §6.2): unlike with the DeviceScatter of partition/reference
// rows are read once, and what many calls append to a partition is one chain. ega_scatter_chain.cuh
// says how. Like its thread it is used on one goroutine, and one call is under way at a time: all
// of them on one stream, or each waited for.
type Chains struct {
	thread   *cuda.Thread
	kernels  *kernels.EgaScatterChain
	pool     *gpumem.Pool
	rows     Rows
	most     int
	pageRows uint32
	tile     uint32 // rows
	slots    uint32 // of a directory
	memory   *cuda.Memory

	now, next chainState // the chains as they are, and as they will be when settled
	lengths   cuda.Span  // by partition: pages
	numbers   cuda.Span  // by partition, while settling
	left      cuda.Span  // a bit a row
	outcome   cuda.Span  // rows left, status
	from      cuda.Span  // of List: where chains begin in pages
	pages     cuda.Span  // of List
	listed    []uint32   // the words of from, on the host
}

// chainState is where chains are.
type chainState struct {
	rows      cuda.Span // by partition
	directory cuda.Span
}

const (
	// chainPerPartition is the bytes of shared memory that a partition takes while
	// rows are appended: where its part begins, and the pages that it goes to.
	chainPerPartition = 16
	// chainTileUnit: a tile is a multiple of so many rows, that it has words of bits to itself.
	chainTileUnit = 32
	// maxChainRows is the most rows of one call, so that a tile more is still counted by 32 bits.
	maxChainRows = 1 << 31
	// maxChainPages is below 2^CHAIN_NUMBER_BITS.
	maxChainPages = 1<<21 - 2
)

// NewChains makes chains without pages, to which calls append up to `most` rows each.
// k and pool are kept, not owned: the caller closes them, after the Chains. A page
// holds at least 32 rows. The pool may serve others too; its methods with a bitmap will do.
// Errors: cuda.ErrOutOfMemory, and those of Validate.
func NewChains(t *cuda.Thread, k *kernels.EgaScatterChain, pool *gpumem.Pool, rows Rows, most int) (*Chains, error) {
	c := &Chains{thread: t, kernels: k, pool: pool, rows: rows, most: most}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("chains of pages: %w", err)
	}
	if err := c.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("chains of pages: %w", err), c.Close())
	}
	return c, nil
}

func (c *Chains) validate() error {
	err := c.rows.Validate()
	if err != nil {
		return err
	}
	view := c.pool.View()
	c.pageRows = uint32(cuda.Size(1) << view.PageShift / c.rows.bytes(1))
	if c.rows.Bits > kernels.ScatterMostBits {
		err = errors.Join(err, fmt.Errorf("2^%d chains: more than 2^%d", c.rows.Bits, kernels.ScatterMostBits))
	}
	if c.pageRows < chainTileUnit {
		return errors.Join(err, fmt.Errorf("pages of %d bytes hold %d rows, less than %d", 1<<view.PageShift, c.pageRows, chainTileUnit))
	}
	if view.WordPages != 32 {
		err = errors.Join(err, errors.New("the pool has no bitmap"))
	}
	if c.most < 0 || c.most > maxChainRows {
		err = errors.Join(err, fmt.Errorf("%d rows: not 0 to %d", c.most, maxChainRows))
	}
	if n := c.mostPages(); n > maxChainPages {
		err = errors.Join(err, fmt.Errorf("up to %d pages at a time: more than %d", n, maxChainPages))
	}
	return err
}

// mostPages is how many pages the directory may know at a time: those of the
// pool, and those that one call asks for in vain.
func (c *Chains) mostPages() uint64 {
	return uint64(c.pool.Capacity()) + uint64(c.most)/uint64(c.pageRows) + uint64(c.rows.Partitions())
}

func (c *Chains) open() error {
	tile := min(c.rows.BlockRows(c.thread, c.rows.Bits, chainPerPartition), c.pageRows)
	c.tile = max(tile/chainTileUnit*chainTileUnit, chainTileUnit)
	c.slots = 1 << bits.Len64(2*c.mostPages()-1) // CHAIN-ROOM
	if err := c.allocate(); err != nil {
		return err
	}
	return c.Reset()
}

// allocate cuts one piece of memory into what chains need.
func (c *Chains) allocate() (err error) {
	chains, directory := cuda.Size(c.rows.Partitions()), 8*cuda.Size(c.slots)
	parts := []struct {
		span *cuda.Span
		size cuda.Size
	}{
		{&c.now.directory, directory},
		{&c.next.directory, directory},
		{&c.now.rows, 8 * chains},
		{&c.next.rows, 8 * chains},
		{&c.outcome, 8},
		{&c.lengths, 4 * chains},
		{&c.numbers, 4 * chains},
		{&c.from, 4 * (chains + 1)},
		{&c.left, c.bits(c.most)},
		{&c.pages, 4 * cuda.Size(c.pool.Capacity())},
	}
	total := cuda.Size(0)
	for _, p := range parts {
		total += p.size
	}
	if c.memory, err = c.thread.Alloc(total); err != nil {
		return err
	}
	at := cuda.Size(0)
	for _, p := range parts {
		*p.span = c.memory.Span().Slice(at, at+p.size)
		at += p.size
	}
	return nil
}

// bits is the bytes of a bit a row, for whole tiles of words.
func (c *Chains) bits(n int) cuda.Size { return cuda.Size(n+chainTileUnit-1) / chainTileUnit * 4 }

// Reset makes all chains empty without giving their pages back, and waits for that. The pool must
// have been reset.
func (c *Chains) Reset() error {
	stream, err := c.thread.NewStream()
	if err != nil {
		return err
	}
	err = errors.Join(stream.Fill(c.now.directory, 0xff), stream.Fill(c.now.rows, 0), stream.Fill(c.lengths, 0))
	return errors.Join(err, stream.Close())
}

// view is the chains as kernels take them.
func (c *Chains) view() kernels.ScatterChains {
	return kernels.ScatterChains{
		Pool: c.pool.View(), Rows: c.now.rows.Ptr, Lengths: c.lengths.Ptr, Directory: c.now.directory.Ptr,
		Slots: c.slots, PageRows: c.pageRows,
	}
}

// settle queues the kernels that complete the chains after a launch (CHAIN-FULL), and gives back
// the pages of n chains from first on.
func (c *Chains) settle(stream *cuda.Stream, first, n int) error {
	if err := stream.Fill(c.next.directory, 0xff); err != nil {
		return err
	}
	chains := uint32(c.rows.Partitions())
	settled := kernels.ScatterSettled{
		Rows: c.next.rows.Ptr, Directory: c.next.directory.Ptr, Numbers: c.numbers.Ptr, First: uint32(first), N: uint32(n),
	}
	if err := c.kernels.Sum(stream, kernels.Sweep(uint64(chains)), c.view(), settled, chains); err != nil {
		return err
	}
	if err := c.kernels.Settle(stream, kernels.Sweep(uint64(c.slots)), c.view(), settled); err != nil {
		return err
	}
	c.now, c.next = c.next, c.now
	return nil
}

// PageRows is how many rows a page holds.
func (c *Chains) PageRows() int { return int(c.pageRows) }

// Append queues a kernel that appends the first n rows of src to the chains of their partitions.
// Once the stream is done, Left returns how many rows found no page.
func (c *Chains) Append(stream *cuda.Stream, src cuda.Span, n int) error {
	return c.append(stream, src, n, 0)
}

// AppendLeft queues the same for the rows of src that the last Append or AppendLeft has left; n is
// as before. Each row is in a page or left (CHAIN-LEFT).
func (c *Chains) AppendLeft(stream *cuda.Stream, src cuda.Span, n int) error {
	return c.append(stream, src, n, 1)
}

func (c *Chains) append(stream *cuda.Stream, src cuda.Span, n int, again uint32) error {
	if n > c.most {
		return fmt.Errorf("append to chains: %d rows, made for %d", n, c.most)
	}
	if err := c.rows.Fits("append to chains", src, n); err != nil {
		return err
	}
	if err := stream.Fill(c.outcome, 0); err != nil {
		return err
	}
	if again == 0 {
		if err := stream.Fill(c.left.Slice(0, c.bits(n)), 0); err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	tiles := (uint32(n)-1)/c.tile + 1
	grid := kernels.ScatterGrid(tiles, c.tile, uint32(c.rows.Stride), uint32(c.rows.Bits), chainPerPartition)
	rows := c.rows.View(src, n, c.rows.Skip, c.rows.Bits, c.tile)
	left := kernels.ScatterLeft{Rows: c.left.Ptr, Count: c.outcome.Ptr, Status: c.outcome.Ptr + 4, Again: again}
	if err := c.kernel()(stream, grid, rows, c.view(), left); err != nil {
		return err
	}
	return c.settle(stream, 0, 0)
}

// kernel is the kernel that appends rows of this many words.
func (c *Chains) kernel() func(*cuda.Stream, cuda.Grid, kernels.ScatterRows, kernels.ScatterChains, kernels.ScatterLeft) error {
	switch {
	case c.rows.Stride == 2:
		return c.kernels.Pairs
	case c.rows.Stride%2 == 0:
		return c.kernels.Even
	default:
		return c.kernels.Odd
	}
}

// Left is how many rows of the last call are in no chain. If there are any, the error is
// kernels.StatusOutOfPages: the caller frees chains and appends what is left. The
// stream of that call must be done.
func (c *Chains) Left() (int, error) {
	outcome, err := ReadWords(c.thread, c.outcome)
	if err != nil {
		return 0, err
	}
	if err := kernels.Status(outcome[1]).Err(); err != nil {
		return int(outcome[0]), fmt.Errorf("append to chains: %d rows are left: %w", outcome[0], err)
	}
	return 0, nil
}

// Move gives the chains to another thread, whose goroutine uses them from now on. All work that
// was queued on streams of the last thread must have ended.
func (c *Chains) Move(t *cuda.Thread) { c.thread = t }

// Close frees the memory, but not the pages: the pool is the caller's. Work that
// uses it must have ended. A second call does nothing.
func (c *Chains) Close() error {
	if c.memory == nil {
		return nil
	}
	memory := c.memory
	c.memory = nil
	return memory.Close()
}
