package parquetio

import (
	"errors"
	"io"
)

// Far is a reader of what is far away, where each read is a request that takes long. It is told
// what is read next, in parts that are numbered within it.
type Far interface {
	io.ReaderAt
	// Near reports whether reading a range takes no request.
	Near(off, n int64) bool
	// Want says that ranges, each an offset and a size, are read soon; at once, or, if lazy, where
	// a read falls into them. hold keeps what was read of the part until as many calls of Done;
	// without, it is a hint.
	Want(part int, ranges [][2]int64, hold, lazy bool)
	Done(part int)
}

var errFar = errors.New("not worth a request")

// far is the reader of an input that is far away; nil: it is not.
func (f *file) far() Far {
	if s, ok := f.r.(*source); ok {
		if far, ok := s.reader.(Far); ok {
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

// A row group has two parts: the columns that are always read, and those that only rows of a filter
// have read.
const partsOfGroup = 2

// want says that the wanted columns of a row group, a number in Scan.groups, are read next.
func (s *Scan) want(g int, hold bool, early func(c int) bool) {
	f := s.d.files[s.fileOf[g]]
	far := f.far()
	if far == nil {
		return
	}
	var parts [partsOfGroup][][2]int64
	for c, leaf := range s.leaves[f.layout] {
		if leaf < 0 {
			continue
		}
		off, n, err := f.chunkRange(&f.chunk(s.groups[g].Group, f.leaves[leaf].index).MetaData)
		if err != nil {
			continue // reading it will tell
		}
		part := 0
		if !early(c) {
			part = 1
		}
		parts[part] = append(parts[part], [2]int64{off, n})
	}
	for part, ranges := range parts {
		if lazy := part == 1; len(ranges) > 0 && (hold || !lazy) {
			far.Want(partsOfGroup*s.groups[g].Group+part, ranges, hold, lazy)
		}
	}
}

// hold has the columns of a row group fetched, and kept until another one is held; -1: none.
func (r *Reader) hold(g int) {
	if before := r.held; before >= 0 {
		if far := r.scan.d.files[r.scan.fileOf[before]].far(); far != nil {
			for part := range partsOfGroup {
				far.Done(partsOfGroup*r.scan.groups[before].Group + part)
			}
		}
	}
	if r.held = g; g >= 0 {
		r.scan.want(g, true, r.early)
	}
}
