package extsort

import (
	"context"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/spill"
)

// Sorter collects rows and sorts them. It is used by one goroutine, until it
// is finished; then by a Merger.
type Sorter struct {
	cfg Config
	in  input
	mem pool

	unit  unit
	runs  []*memRun
	rows  int64  // in the unit and the runs in memory
	bound []byte // nil, or a key: the rows wanted have keys below it, or were added
	next  int64  // at how many rows a lower bound is looked for
	key   []byte // scratch: one without its place

	file  *spill.File
	disk  []*diskRun
	block []byte // for writing
}

// New returns a sorter without rows.
func New(c Config) *Sorter {
	c.Keep = min(c.Keep, math.MaxInt64/4) // of which there may be twice as many
	return &Sorter{
		cfg: c, in: newInput(c),
		mem: pool{from: c.Budget, share: c.Memory, pageBytes: c.pageBytes()},
	}
}

// Add adds rows: the columns that they are sorted by, and those that they
// consist of. Rows that are equal stay in order of their places, which are
// place, place+1 and so on; no two rows of all sorters that are merged may
// have the same.
func (s *Sorter) Add(ctx context.Context, place uint64, order, cols []column.Vector, rows int) error {
	if s.cfg.Keep == 0 {
		return nil
	}
	if err := s.open(); err != nil {
		return err
	}
	if err := s.in.set(order, cols, rows); err != nil {
		return err
	}
	for i := 0; i < rows; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := s.addSome(ctx, i, place+uint64(i))
		if err != nil {
			return err
		}
		switch {
		case s.cfg.Keep < 0:
		case s.rows > 2*s.cfg.Keep+s.cfg.pruneAfter():
			if err := s.prune(ctx); err != nil {
				return err
			}
		case s.rows >= max(s.next, s.cfg.Keep):
			s.tighten()
		}
		i += n
	}
	return nil
}

// addSome adds some rows of the batch from row i on, and returns how many.
func (s *Sorter) addSome(ctx context.Context, i int, place uint64) (int, error) {
	sizes := s.in.sizes[i:]
	if sizes[0] > s.mem.pageBytes && s.cfg.Spill != nil {
		if _, err := s.tryRoom(sizes[:1]); err != nil {
			return 1, s.addFar(ctx, i, place)
		}
	}
	n, err := s.room(ctx, sizes)
	if err == nil {
		s.addRows(i, n, place)
	}
	return n, err
}

// open takes what spilling needs.
func (s *Sorter) open() error {
	n := s.cfg.spillBytes()
	if s.block != nil || n == 0 {
		return nil
	}
	if err := s.mem.draw(n); err != nil {
		return err
	}
	s.block = hostmem.Make[byte](s.cfg.blockBytes())[:0]
	return nil
}

// room makes room in the last page, and in the index, for the first of the
// rows with these sizes, and returns for how many there is. If memory is
// refused, all rows go to disk.
func (s *Sorter) room(ctx context.Context, sizes []int) (int, error) {
	for {
		n, err := s.tryRoom(sizes)
		if err == nil || s.rows == 0 {
			return n, err
		}
		if err := s.spillOr(ctx, err); err != nil {
			return 0, err
		}
	}
}

func (s *Sorter) tryRoom(sizes []int) (int, error) {
	u := &s.unit
	if u.room(sizes[:1]) == 0 {
		p, err := s.mem.page(sizes[0])
		if err != nil {
			return 0, err
		}
		u.pages = append(u.pages, p)
	}
	n := min(u.room(sizes), unitRows-u.rows)
	if more := u.rows + n - u.entries; more > 0 {
		more = (more + entryStep - 1) / entryStep * entryStep
		if err := s.mem.draw(int64(more) * entryBytes); err != nil {
			return 0, err
		}
		u.entries += more
	}
	return n, nil
}

// addRows adds n rows of the batch from first on, for which there is room.
func (s *Sorter) addRows(first, n int, place uint64) {
	u := &s.unit
	from := len(u.pages[len(u.pages)-1])
	s.in.rows = u.allocate(s.in.sizes[first:first+n], s.in.rows[:0])
	s.in.write(s.in.rows, first, place)
	s.added(from)
}

// addFar writes the values of a row that is wider than a page, and for which
// there is no memory, to disk at once.
func (s *Sorter) addFar(ctx context.Context, i int, place uint64) error {
	size := s.in.sizes[i]
	for err := s.mem.draw(int64(size)); err != nil; err = s.mem.draw(int64(size)) {
		if s.rows == 0 {
			return err
		}
		if err := s.spillOr(ctx, err); err != nil {
			return err
		}
	}
	defer s.mem.release(int64(size))
	wide := hostmem.Make[byte](size)
	defer hostmem.Free(wide)
	s.in.write([]row{wide}, i, place)
	if err := s.openFile(); err != nil {
		return err
	}
	// no copy: its key may be long, too
	far, err := putFar(ctx, wide[:0], wide, s.file, s.cfg.blockBytes())
	if err != nil {
		return err
	}
	if _, err := s.room(ctx, []int{len(far)}); err != nil {
		return err
	}
	s.copyRow(far)
	return nil
}

// copyRow adds a row for which there is room.
func (s *Sorter) copyRow(r row) {
	u := &s.unit
	from := len(u.pages[len(u.pages)-1])
	s.in.rows = u.allocate([]int{r.len()}, s.in.rows[:0])
	copy(s.in.rows[0], r)
	s.added(from)
}

// added counts the rows that were written to the last page, from offset from on. It
// drops those beyond the bound, and sorts a unit that is full.
func (s *Sorter) added(from int) {
	u := &s.unit
	u.note(s.in.rows)
	s.rows += int64(len(s.in.rows))
	if s.bound != nil {
		s.rows -= int64(u.keepBelow(s.bound, from))
	}
	if u.rows == unitRows {
		s.sort()
	}
}

// sort makes a run of the unit.
func (s *Sorter) sort() {
	u := s.unit
	s.unit = unit{}
	if u.rows == 0 {
		s.mem.put(u.pages...)
		s.mem.release(int64(u.entries) * entryBytes)
		return
	}
	s.runs = append(s.runs, u.sort())
	s.mem.release(int64(u.entries-u.rows) * entryBytes)
}

// forget gives the memory of runs back.
func (s *Sorter) forget(runs []*memRun) {
	for _, m := range runs {
		s.mem.put(m.pages...)
		s.mem.release(m.indexBytes())
		hostmem.Free(m.memory)
		s.rows -= int64(len(m.index))
	}
}

// Close lets go of all memory and of the file.
func (s *Sorter) Close() error {
	s.sort()
	s.forget(s.runs)
	s.runs, s.disk = nil, nil
	s.mem.trim()
	hostmem.Free(s.block)
	s.block = nil
	s.mem.release(s.mem.held)
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
