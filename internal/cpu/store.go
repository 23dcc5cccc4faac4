package cpu

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/partition"
)

// A store is the rows that one owner, a worker or a merger, has placed in
// buckets: pages from a pool of its own, values in an arena of its own, and a
// disk of its own for when memory is refused.
//
// SPILL-EPOCH: values are not freed one by one. Rows that go to disk take
// copies of their values with them, and when no row of the owner is left in
// memory, the arena and the pool are emptied as a whole.
type store struct {
	cfg     *Config
	pool    *partition.Pool
	arena   *arena.Arena
	disk    *partition.Disk    // nil: there is nowhere to spill to
	buckets *partition.Buckets // nil until it is known how many there are
	placed  int64              // rows that went into them
	inPlace *table             // a table with rows of the buckets (inplace.go); nil: there is none
	runs    bool               // rows come in runs for one partition
	seeded  bool               // rows are placed by the seeded hash (CROWDED)
}

// whole checks ROWS-WHOLE: the buckets hold all rows that were placed. The rows
// that are there are counted, not those that were written, and in every build: a
// strategy that loses rows would give a wrong answer that looks right.
func (s *store) whole() error {
	if n := s.buckets.AllRows(); n != s.placed {
		return fmt.Errorf("internal error: partitions hold %d of %d rows", n, s.placed)
	}
	return nil
}

func newStore(cfg *Config, from budget.Lender) *store {
	s := &store{cfg: cfg, pool: partition.NewPool(cfg.Stride, from), arena: cfg.Arenas.New()}
	if cfg.Spill != nil {
		s.disk = partition.NewDisk(cfg.Spill, cfg.refs(), cfg.Stride, partition.BlockBytesFor(cfg.Memory.Merge))
	}
	return s
}

// open makes the buckets: 2^n of them, for rows that share their top skip
// hash bits.
func (s *store) open(skip, n uint) { s.buckets = partition.New(skip, n, s.pool, s.disk) }

// place puts rows into their buckets, and buckets to disk while there is no
// memory. The rows must be in no bucket yet.
func (s *store) place(rows []uint64) error { return s.placeBy(nil, rows) }

// placeBy is place for rows whose hashes are known; nil: they are not.
func (s *store) placeBy(hashes, rows []uint64) error {
	s.placed += int64(len(rows) / s.cfg.Stride)
	for {
		n, err := s.scatter(hashes, rows)
		if err == nil {
			return nil
		}
		if rows = rows[n*s.cfg.Stride:]; hashes != nil {
			hashes = hashes[n:]
		}
		if err := s.spill(err); err != nil {
			return err
		}
	}
}

func (s *store) scatter(hashes, rows []uint64) (int, error) {
	switch {
	case s.seeded:
		return s.scatterSeeded(rows)
	case s.runs:
		return s.buckets.ScatterRuns(rows)
	case s.cfg.Keys.Base() > 0:
		return s.buckets.Scatter(rows)
	case hashes != nil:
		return s.buckets.ScatterBy(hashes, rows)
	default:
		return s.scatterBare(rows)
	}
}

// scatterBare places rows without their hashes (HASH-OMITTED).
func (s *store) scatterBare(rows []uint64) (placed int, err error) {
	var hashes [hashRows]uint64
	stride := s.cfg.Stride
	for len(rows) > 0 && err == nil {
		n := min(len(rows)/stride, len(hashes))
		s.cfg.Keys.RowHashes(rows, stride, hashes[:n])
		n, err = s.buckets.ScatterBy(hashes[:n], rows)
		placed, rows = placed+n, rows[n*stride:]
	}
	return placed, err
}

// spillShare is the part of the pages that is spilled when another is refused:
// the others stay, and may stay for good if the input ends soon.
const spillShare = 4

// spill makes pages free because of a refusal.
func (s *store) spill(cause error) error {
	held := s.buckets.Bytes()
	if s.disk == nil || held == 0 {
		return cause
	}
	return s.buckets.Spill(held/spillShare + 1)
}

// reserve makes sure of memory for values of that size, if necessary by writing
// all buckets to disk. Their rows must all be in buckets.
func (s *store) reserve(bytes int) error {
	err := s.room(bytes)
	if err == nil || s.disk == nil || s.buckets == nil {
		return err
	}
	if err := s.clear(); err != nil {
		return err
	}
	return s.room(bytes)
}

// room makes sure of memory for values of that size.
func (s *store) room(bytes int) error { return s.arena.Reserve(bytes) }

// makeRoom makes sure of memory for more values of one row, which is in no
// bucket and is the only one that refers to the arena. If necessary the values
// in the arena to which the row refers no more are freed, and its long chains go
// to disk. room draws the memory.
func (s *store) makeRoom(row []uint64, bytes int, room func(bytes int) error) error {
	if err := room(bytes); err == nil || !refused(err) {
		return err
	}
	if err := s.compact(row); err != nil {
		return err
	}
	if err := room(bytes); err != nil {
		return &overload{err}
	}
	return nil
}

// compact lets go of what lies in the arena and does not belong to the row, the values of which
// move to a section that becomes the arena's. These take their memory twice for a while, which is
// drawn from the budget.
func (s *store) compact(row []uint64) error {
	values := s.cfg.Keys.ArenaBytes(row, s.cfg.Keys.Base()) + s.cfg.States.ArenaBytes(row, s.cfg.Arenas)
	var sec arena.Section
	defer sec.Free()
	sec.GrowTo(values)
	drawn := int64(sec.Held())
	if err := s.cfg.Budget.Draw(drawn); err != nil {
		return &overload{err}
	}
	if err := (rowRefs{s.cfg}).Move(row, &sec); err != nil {
		s.cfg.Budget.Release(drawn)
		return err
	}
	s.arena.Reset()
	if sec.Len() == 0 {
		s.cfg.Budget.Release(drawn)
		return nil
	}
	base := s.cfg.Arenas.Adopt(sec.Bytes())
	rowRefs{s.cfg}.Rebase(row, base)
	s.arena.Own(sec.Detach(), drawn, base)
	return nil
}

// exit is the memory that the store needs, beside what it holds, to write rows
// and their values to disk: that many bytes of pages. EXIT-OPEN: values never
// take this memory. Else a store full of values could not write them to disk.
func (s *store) exit(pages int64) int64 {
	if s.disk == nil {
		return 0
	}
	return max(pages-s.pool.Bytes(), 0)
}

// bytes is the memory that the rows of the store take, with their values.
func (s *store) bytes() int64 { return s.pool.Bytes() + s.arena.Bytes() }

// clear puts all buckets to disk and lets go of all memory.
func (s *store) clear() error {
	if s.buckets != nil {
		if err := s.buckets.Spill(s.buckets.Bytes()); err != nil {
			return err
		}
	}
	s.arena.Reset()
	s.pool.Reset()
	return nil
}

// close lets go of everything, rows and files included.
func (s *store) close() error {
	s.buckets = nil
	if s.inPlace != nil {
		s.inPlace.drop()
	}
	s.arena.Reset()
	s.pool.Reset()
	if s.disk == nil {
		return nil
	}
	return s.disk.Close()
}

// rowRefs tells package partition what a row refers to.
type rowRefs struct{ cfg *Config }

func (r rowRefs) Move(row []uint64, to arena.Putter) error {
	r.cfg.Keys.Move(row, r.cfg.Keys.Base(), r.cfg.Arenas, to)
	return r.cfg.States.Move(row, r.cfg.Arenas, to)
}

func (r rowRefs) Rebase(row []uint64, add uint64) {
	r.cfg.Keys.Rebase(row, r.cfg.Keys.Base(), add)
	r.cfg.States.Rebase(row, add)
}

// hasRefs reports whether rows may refer to values in an arena.
func (c *Config) hasRefs() bool { return c.Keys.HasRefs() || c.States.HasRefs() }

// refs is the refs of rows for package partition, which moves rows; nil if rows
// have none.
func (c *Config) refs() partition.Refs {
	if !c.hasRefs() {
		return nil
	}
	return rowRefs{c}
}
