package extsort

import (
	"context"

	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/spill"
)

// cursor walks the rows of a run, in memory or on disk.
type cursor struct {
	current row    // nil: there are no more
	prefix  uint64 // of its key, from shared on
	shared  int

	mem *memRun // if the run is in memory
	i   int     // the next entry

	file  *spill.File
	disk  *diskRun // if it is on disk
	block int      // the next block
	buf   []byte
	rest  []byte // the rows of buf behind the current one
}

func memCursor(m *memRun, file *spill.File) *cursor { return &cursor{mem: m, file: file} }

func diskCursor(d *diskRun, file *spill.File) *cursor {
	return &cursor{disk: d, file: file, buf: hostmem.Make[byte](d.largest)}
}

// close frees the buffer.
func (c *cursor) close() {
	hostmem.Free(c.buf)
	c.buf, c.rest, c.current = nil, nil, nil
}

// sample is the beginning of a key, behind the first bytes, which all keys have in common.
func (c *cursor) sample() (key []byte, shared int) {
	if c.disk != nil {
		return c.disk.sample, c.disk.shared
	}
	return c.mem.row(c.mem.index[0]).key(), c.mem.shared
}

func (c *cursor) widest() int {
	if c.disk != nil {
		return c.disk.widest
	}
	return c.mem.widest
}

// overwrites reports whether the next step reads a block over the one that
// the current row lies in.
func (c *cursor) overwrites() bool { return c.disk != nil && len(c.rest) == 0 }

// step goes on to the next row.
func (c *cursor) step(ctx context.Context) error {
	if c.disk != nil {
		return c.diskStep(ctx)
	}
	if c.i == len(c.mem.index) {
		c.current = nil
		return nil
	}
	e := c.mem.index[c.i]
	c.i++
	c.current = c.mem.row(e)
	if c.shared == c.mem.shared {
		c.prefix = e.prefix // and the row stays untouched
	} else {
		c.prefix = prefix(c.current.key(), c.shared)
	}
	return nil
}

func (c *cursor) diskStep(ctx context.Context) error {
	if len(c.rest) == 0 {
		if err := c.load(ctx); err != nil || len(c.rest) == 0 {
			c.current = nil
			return err
		}
	}
	c.current = row(c.rest)
	c.rest = c.rest[c.current.len():]
	c.prefix = prefix(c.current.key(), c.shared)
	return nil
}

// load reads the next block. It is then not needed on disk any more.
func (c *cursor) load(ctx context.Context) error {
	if c.block == len(c.disk.blocks) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := c.disk.blocks[c.block]
	c.block++
	if c.block < len(c.disk.blocks) {
		c.file.Prefetch(c.disk.blocks[c.block])
	}
	var err error
	if c.rest, err = c.file.Read(e, c.buf); err != nil {
		return err
	}
	c.file.Free(e)
	return nil
}
