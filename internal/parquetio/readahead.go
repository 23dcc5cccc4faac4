package parquetio

import "github.com/gagg-dev/gagg/internal/filepool"

// This file has the system read files into its page cache before readers come to them. Chunks are
// decoded page by page, which alone would be one small read after another. Each reader keeps
// aheadEach bytes under way in the row group that it reads, and as many in those behind it:
//
//	a chunk            |..taken..|..read now..|--- lead ---|           |
//	the others         likewise; the lead of a chunk is its share of aheadEach
//	row groups behind  |--- lead ---|      |  |--- lead ---|      |
//
// Late columns (late.go) of row groups behind are only asked for where those of the row group
// before were read. The system is asked for nothing that is in its cache (filepool.Source.Ahead).
//
// AHEAD: of what no reader has come to, at most 2 aheadEach for each reader are asked for, and the
// lead of one more row group. It is memory of the system, which it takes back when it is short.
//
// All of it is hints: errors are seen when the bytes are read. Nobody waits for the disk here,
// and nothing goes on that would have to be ended.

const (
	// aheadEach is some milliseconds of a worker, or of a disk. With less the disk was idle between
	// chunks of 10 MB; with 8 MiB bytes were no longer in the processor's cache when they were
	// copied (docs/experiments/0020).
	aheadEach = 4 << 20

	// aheadUnits bounds the units that a reader looks at for row groups to be read ahead.
	aheadUnits = 32
)

// aheader is a file that can be read ahead, as filepool.Source does it.
type aheader interface {
	Ahead(off, n int64) (asked int64)
}

// What was asked for of a row group.
const (
	askedNothing int32 = iota
	askedEarly         // the first bytes of early columns
	askedAll           // of late ones too
)

// readAhead asks for the row groups behind that of a unit, and for their late columns if all is
// set; of row groups on a server for the early columns of the next one.
func (s *Scan) readAhead(unit int, early func(c int) bool, all bool) {
	own, left := s.units[unit].of, s.readers.Load()*s.ahead
	for _, u := range s.units[unit+1 : min(unit+1+aheadUnits, len(s.units))] {
		if u.of == own {
			continue
		}
		if s.d.files[s.fileOf[u.of]].far() != nil {
			if s.hinted[u.of].CompareAndSwap(askedNothing, askedEarly) {
				s.want(u.of, false, early)
			}
			return
		}
		s.ask(u.of, early, all)
		if left -= min(u.Bytes, s.ahead); left <= 0 {
			return
		}
	}
}

// ask asks for the first bytes of the columns of a row group, of late ones if all is set, unless
// that was done.
func (s *Scan) ask(g int, early func(c int) bool, all bool) {
	had, now := s.hinted[g].Load(), askedEarly
	if all {
		now = askedAll
	}
	if had >= now || !s.hinted[g].CompareAndSwap(had, now) {
		return
	}
	f := s.d.files[s.fileOf[g]]
	if f.far() != nil {
		return // see want
	}
	wanted := func(c int) bool { return early(c) && had == askedNothing || !early(c) && all }
	for _, r := range s.ranges(g, wanted) {
		f.ask(r[0], s.lead(g, r[1]))
	}
}

// lead is how far ahead of its reader a chunk of n bytes is asked for.
func (s *Scan) lead(g int, n int64) int64 {
	if all := s.groups[g].Bytes; all > s.ahead {
		return int64(float64(n) / float64(all) * float64(s.ahead))
	}
	return n
}

// ask has a range read ahead, if the file is one of the system.
func (f *file) ask(off, n int64) {
	if to, ok := f.r.(aheader); ok {
		to.Ahead(off, n)
	}
}

// ahead asks for what is behind a read of n bytes, once that is a piece or the rest.
func (w *window) ahead(n int64) {
	if w.ask == nil || w.short {
		return
	}
	end := w.next + w.left
	from, to := max(w.asked, w.next), min(w.next+n+w.lead, end)
	if to-from >= filepool.Piece || to == end && from < to {
		w.ask(from, to-from)
		w.asked = to
	}
}

// goAhead asks for the row group of a unit, which is read next, and for those behind it.
func (r *Reader) goAhead(unit int) {
	g := r.scan.units[unit].of
	r.scan.ask(g, r.early, r.dense)
	for i, c := range r.cols {
		if c == nil {
			continue
		}
		start, n, _ := c.f.chunkRange(&c.f.chunk(r.scan.units[unit].Group, c.leaf.index).MetaData)
		c.in.lead, c.in.asked, c.in.passed = r.scan.lead(g, n), start, 0
		if r.early(i) || r.scan.hinted[g].Load() == askedAll {
			c.in.asked += c.in.lead
		}
	}
	r.scan.readAhead(unit, r.early, r.dense)
}

// readsLate reports whether most bytes of the late columns of the open row group were read.
func (r *Reader) readsLate() bool {
	if r.where == nil || !r.where.open {
		return false
	}
	all, passed := int64(0), int64(0)
	for i, c := range r.cols {
		if c != nil && r.late(i) {
			_, n, _ := c.f.chunkRange(c.metadata())
			all, passed = all+n, passed+c.in.passed
		}
	}
	return passed < all/2
}
