package partition

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Chains is partitions on the device, each a chain of pages that kernels take
// from a pool while they fill them (paper 000, section 6.2): unlike with DeviceScatter rows are read
// once, and what many calls append to a partition lies in one chain. ega_scatter_chain.cuh has the layout.
// Like its thread it is used on one goroutine, and one call is under way at a
// time.
type Chains struct {
	thread  *cuda.Thread
	kernels *kernels.EgaScatterChain
	pool    *gpumem.Pool
	rows    DeviceRows
	most    int
	tile    uint32 // rows
	view    kernels.ScatterChains
	memory  *cuda.Memory

	tails, lengths cuda.Span
	left           cuda.Span // bits
	outcome        cuda.Span // rows left, status
	from, pages    cuda.Span // of List
}

const (
	// chainHeader is the size of ChainPage, which a page begins with.
	chainHeader = 16
	// chainPerPartition is the bytes of shared memory that a partition takes while
	// rows are appended: where its part begins, and the pages that it goes to.
	chainPerPartition = 16
	// chainTileUnit: a tile is a multiple of so many rows, that it has words of bits to itself.
	chainTileUnit = 32
	// maxChainRows is the most rows of one call: what is added to a tail in vain is of
	// 32 bits together with what is in the page (CHAIN-ROOM).
	maxChainRows = 1 << 31
)

// NewChains makes chains without pages, to which calls append up to `most` rows each.
// k and pool are kept, not owned: the caller closes them, after the Chains. A page
// holds at least 32 rows. The pool may serve others too; its methods with a bitmap will do.
// Errors: cuda.ErrOutOfMemory, and those of Validate.
func NewChains(t *cuda.Thread, k *kernels.EgaScatterChain, pool *gpumem.Pool, rows DeviceRows, most int) (*Chains, error) {
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
	c.view.PageRows = uint32((1<<view.PageShift - chainHeader) / c.rows.bytes(1))
	if c.rows.Bits > kernels.ScatterMostBits {
		err = errors.Join(err, fmt.Errorf("2^%d chains: more than 2^%d", c.rows.Bits, kernels.ScatterMostBits))
	}
	if c.view.PageRows < chainTileUnit {
		err = errors.Join(err, fmt.Errorf("pages of %d bytes hold %d rows, less than %d", 1<<view.PageShift, c.view.PageRows, chainTileUnit))
	}
	if view.WordPages != 32 {
		err = errors.Join(err, errors.New("the pool has no bitmap"))
	}
	if c.most < 0 || c.most > maxChainRows {
		err = errors.Join(err, fmt.Errorf("%d rows: not 0 to %d", c.most, maxChainRows))
	}
	return err
}

func (c *Chains) open() error {
	tile := min(c.rows.tileRows(c.thread, c.rows.Bits, chainPerPartition), c.view.PageRows)
	c.tile = max(tile/chainTileUnit*chainTileUnit, chainTileUnit)
	chains := cuda.Size(c.rows.Partitions())
	sizes := []cuda.Size{8 * chains, 4 * chains, c.bits(c.most), 8, 4 * (chains + 1), 4 * cuda.Size(c.pool.Capacity())}
	total := cuda.Size(0)
	for _, n := range sizes {
		total += n
	}
	var err error
	if c.memory, err = c.thread.Alloc(total); err != nil {
		return err
	}
	at := cuda.Size(0)
	for i, span := range []*cuda.Span{&c.tails, &c.lengths, &c.left, &c.outcome, &c.from, &c.pages} {
		*span = c.memory.Span().Slice(at, at+sizes[i])
		at += sizes[i]
	}
	c.view.Tails, c.view.Lengths = c.tails.Ptr, c.lengths.Ptr
	if err := allowShared(c.thread, c.kernels.Functions()); err != nil {
		return err
	}
	return c.Reset()
}

// bits is the bytes of a bit a row, for whole tiles of words.
func (c *Chains) bits(n int) cuda.Size { return cuda.Size(n+chainTileUnit-1) / chainTileUnit * 4 }

// Reset makes all chains empty without giving their pages back, and waits for that: the
// pool has been reset.
func (c *Chains) Reset() error {
	stream, err := c.thread.NewStream()
	if err != nil {
		return err
	}
	n := uint32(c.rows.Partitions())
	err = c.kernels.Reset(stream, kernels.Sweep(uint64(n)), c.chains(), 0, n)
	return errors.Join(err, stream.Close())
}

// chains is what a launch takes.
func (c *Chains) chains() kernels.ScatterChains {
	c.view.Pool = c.pool.View()
	return c.view
}

// PageRows is how many rows a page holds.
func (c *Chains) PageRows() int { return int(c.view.PageRows) }

// Append queues that the first n rows of src are appended to their partitions' chains. Once the
// stream is done, Left tells for how many there was a page.
func (c *Chains) Append(stream *cuda.Stream, src cuda.Span, n int) error {
	return c.append(stream, src, n, 0)
}

// AppendLeft queues the same for those rows of src, n as before, that were left by the Append or
// AppendLeft before.
func (c *Chains) AppendLeft(stream *cuda.Stream, src cuda.Span, n int) error {
	return c.append(stream, src, n, 1)
}

func (c *Chains) append(stream *cuda.Stream, src cuda.Span, n int, again uint32) error {
	if n > c.most {
		return fmt.Errorf("append to chains: %d rows, made for %d", n, c.most)
	}
	if err := c.rows.fits("append to chains", src, n); err != nil {
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
	rows := c.rows.view(src, n, c.rows.Skip, c.rows.Bits, c.tile)
	left := kernels.ScatterLeft{Rows: c.left.Ptr, Count: c.outcome.Ptr, Status: c.outcome.Ptr + 4, Again: again}
	if err := c.kernel()(stream, grid, rows, c.chains(), left); err != nil {
		return err
	}
	chains := uint32(c.rows.Partitions())
	return c.kernels.Settle(stream, kernels.Sweep(uint64(chains)), c.chains(), chains)
}

// kernel is the one that appends rows of this many words.
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
	outcome, err := readWords(c.thread, c.outcome)
	if err != nil {
		return 0, err
	}
	if err := kernels.Status(outcome[1]).Err(); err != nil {
		return int(outcome[0]), fmt.Errorf("append to chains: %d rows are left: %w", outcome[0], err)
	}
	return 0, nil
}

// ChainSize is how large a chain is.
type ChainSize struct {
	Pages int
	// Newest is the rows in its newest page; all others are full.
	Newest int
}

// Rows is the rows of a chain whose pages hold so many.
func (s ChainSize) Rows(pageRows int) int {
	if s.Pages == 0 {
		return 0
	}
	return (s.Pages-1)*pageRows + s.Newest
}

// Sizes reads how large the chains of all partitions are. No call may be under way.
func (c *Chains) Sizes() ([]ChainSize, error) {
	lengths, err := readWords(c.thread, c.lengths)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, c.tails.Size)
	if err := c.thread.Read(raw, c.tails); err != nil {
		return nil, err
	}
	sizes := make([]ChainSize, len(lengths))
	for p, pages := range lengths {
		if pages > 0 {
			sizes[p] = ChainSize{Pages: int(pages), Newest: int(binary.LittleEndian.Uint32(raw[8*p:]))}
		}
	}
	return sizes, nil
}

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
