package parquetio

import (
	"errors"
	"io"

	"github.com/gagg-dev/gagg/internal/filepool"
)

// Far is a reader of a remote file, where each read is a request that takes long. Its caller
// announces the ranges that are read next, in parts with numbers.
type Far interface {
	io.ReaderAt
	// Near reports whether reading a range takes no request.
	Near(off, n int64) bool
	// Want says that ranges, each an offset and a size, are read soon: they are fetched at once,
	// or, if lazy, when a read falls into them. Each call with hold keeps the part until a call of
	// Done; a call without hold is a hint.
	Want(part int, ranges [][2]int64, hold, lazy bool)
	Done(part int)
}

var errFar = errors.New("not worth a request")

// far is the reader of an input that is far away; nil: it is not.
func (f *file) far() Far {
	if s, ok := f.r.(*filepool.Source); ok {
		if far, ok := s.Given().(Far); ok {
			return far
		}
	}
	return nil
}

// readHint is readAt for what helps to read less, and is not worth a request.
func (f *file) readHint(b []byte, off int64) error {
	if far := f.far(); far != nil && !far.Near(off, int64(len(b))) {
		return errFar
	}
	return readAt(f.r, b, off)
}

// A stretch is row groups of a file that lie behind each other, whose wanted columns are fetched
// together: small ones, since a request takes long. It has two parts: the columns that are always
// read, and those that only rows of a filter have read.
const (
	partsOfStretch = 2
	stretchBytes   = 8 << 20
	stretchGap     = 256 << 10 // between row groups, at most
)

// findStretches tells, for each row group, the first of its stretch.
func (s *Scan) findStretches() {
	s.stretches = make([]int, len(s.groups))
	first, end, bytes := 0, int64(0), int64(0)
	for g := range s.groups {
		s.stretches[g] = g
		f := s.d.files[s.fileOf[g]]
		if f.far() == nil {
			continue
		}
		from, to := s.span(g)
		same := g > 0 && s.fileOf[g] == s.fileOf[first] && s.stretches[g-1] == first
		if bytes += s.groups[g].Bytes; !same || bytes > stretchBytes || from < end || from-end > stretchGap {
			first, bytes = g, s.groups[g].Bytes
		}
		s.stretches[g], end = first, to
	}
}

// span is from where to where the wanted columns of a row group lie.
func (s *Scan) span(g int) (from, to int64) {
	for _, r := range s.ranges(g, func(int) bool { return true }) {
		if to == 0 || r[0] < from {
			from = r[0]
		}
		to = max(to, r[0]+r[1])
	}
	return from, to
}

// ranges are the places of some of the wanted columns of a row group, each an offset and a size.
func (s *Scan) ranges(g int, wanted func(c int) bool) (all [][2]int64) {
	f := s.d.files[s.fileOf[g]]
	for c, leaf := range s.leaves[f.layout] {
		if leaf < 0 || !wanted(c) {
			continue
		}
		m := &f.chunk(s.groups[g].Group, f.leaves[leaf].index).MetaData
		if off, n, err := f.chunkRange(m); err == nil { // else reading it will tell
			all = append(all, [2]int64{off, n})
		}
	}
	return all
}

// want says that the wanted columns of the stretch of a row group, a number in Scan.groups, are
// read next.
func (s *Scan) want(g int, hold bool, early func(c int) bool) {
	far := s.d.files[s.fileOf[g]].far()
	if far == nil {
		return
	}
	first := s.stretches[g]
	for part := range partsOfStretch {
		lazy := part == 1
		if lazy && !hold {
			break
		}
		var ranges [][2]int64
		for n := first; n < len(s.groups) && s.stretches[n] == first; n++ {
			ranges = append(ranges, s.ranges(n, func(c int) bool { return early(c) != lazy })...)
		}
		far.Want(partsOfStretch*first+part, ranges, hold, lazy)
	}
}

// hold has the columns of a row group fetched, and kept until another one is held; -1: none.
func (r *Reader) hold(g int) {
	before := r.held
	if r.held = g; g >= 0 {
		r.scan.want(g, true, r.early)
	}
	if before < 0 {
		return
	}
	if far := r.scan.d.files[r.scan.fileOf[before]].far(); far != nil {
		for part := range partsOfStretch {
			far.Done(partsOfStretch*r.scan.stretches[before] + part)
		}
	}
}
