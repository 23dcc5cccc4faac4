package parquetio

import (
	"sync"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file shares the dictionaries of a row group's chunks between readers of its parts. The
// first reader that needs a dictionary decodes it. Others that need it meanwhile decode another
// one first, or wait. It is not written to afterwards.
//
// SHARED: its memory is reserved by the reader that decodes it, and freed and given back by the
// one that leaves it last.

// sharedDict is the dictionary of a chunk of a row group that was cut into parts.
type sharedDict struct {
	mu      sync.Mutex   // held while it is decoded
	users   int          // readers that have it
	dict    *column.Dict // while there are some; nil: it is empty
	prefix  *dictPrefix  // dict is a part of it; nil: all was decoded at once
	mem     dictMemory   // that it lies in
	account account      // what was drawn for it
}

// sharedDict is the shared dictionary of column i of Columns in a row group; nil: each reader
// decodes its own.
func (s *Scan) sharedDict(group, i int) *sharedDict {
	if s.shared == nil || s.shared[group] == nil {
		return nil
	}
	return &s.shared[group][i]
}

// share has parts of row groups share dictionaries.
func (s *Scan) share(units []Unit) {
	s.shared = nil
	for i := range units[:max(len(units)-1, 0)] {
		g := units[i].of
		if g != units[i+1].of {
			continue
		}
		if s.shared == nil {
			s.shared = make([][]sharedDict, len(s.groups))
		}
		if s.shared[g] == nil {
			s.shared[g] = make([]sharedDict, len(s.cols))
		}
	}
}

// takeShared takes the dictionary that was passed over from the reader that decoded it, or
// decodes it. If another reader is decoding it, takeShared waits if wait is set, and else does
// nothing.
func (c *columnReader) takeShared(wait bool) error {
	d := c.common
	if wait {
		d.mu.Lock()
	} else if !d.mu.TryLock() {
		return nil
	}
	defer d.mu.Unlock()
	if d.users == 0 {
		if err := c.loadLate(); err != nil {
			return err
		}
		d.adopt(c)
	}
	c.dict, c.prefix, c.hasDict, c.lateDict.size = d.dict, d.prefix, true, 0
	d.users++
	c.using = d
	return nil
}

// adopt makes the dictionary that a reader has just decoded the shared one, with its memory.
func (d *sharedDict) adopt(c *columnReader) {
	d.account.from = c.shared.account.from
	d.dict, d.prefix, d.mem = c.dict, c.prefix, c.dictMem
	d.mem.transfer(&d.account)
	if d.prefix != nil {
		d.prefix.aside.transfer(&d.account)
	}
	c.dictMem = dictMemory{}
	c.dictMem.use(&c.shared.account)
}

func (c *columnReader) takeSharedFenced(wait bool) (err error) {
	defer c.place(&err)
	defer invariant.Fence(&err, damaged)
	return c.takeShared(wait)
}

// leave says that a reader is done with the dictionary.
func (d *sharedDict) leave() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users > 0 {
		return
	}
	if d.prefix != nil {
		d.prefix.aside.free()
	}
	d.mem.free()
	d.dict, d.prefix = nil, nil
	d.account.close()
}

// transfer leaves bytes that were drawn to another account.
func (a *account) transfer(bytes int64, to *account) {
	a.used, a.held = a.used-bytes, a.held-bytes
	to.used, to.held = to.used+bytes, to.held+bytes
}

// takeDictionaries gets the shared dictionaries that the next pages of the wanted columns need.
// Those that no other reader is decoding come first.
func (r *Reader) takeDictionaries(wanted func(c int) bool) error {
	for _, wait := range []bool{false, true} {
		err := r.each(wanted, func(_ int, c *columnReader) error {
			if c == nil || c.common == nil || c.lateDict.size == 0 || c.found == 0 || !isDictionary(c.encoding()) {
				return nil
			}
			return c.takeSharedFenced(wait)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
