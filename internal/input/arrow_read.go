package input

import (
	"github.com/gagg-dev/gagg/internal/arrowio"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
)

// projection is what a scan reads of a file.
type projection struct {
	*arrowio.Projection
	cols []cutColumn // by column of the scan
}

// project finds the columns of a scan in a file.
func (s *arrowScan) project(f *arrowFile) *projection {
	var paths [][]int
	at := map[int]int{} // a leaf of the file: its place among the wanted ones
	for i := range f.own {
		for _, c := range s.cols {
			if f.leafOf(c) == i {
				at[i] = len(paths)
				paths = append(paths, f.own[i].At)
				break
			}
		}
	}
	p := &projection{Projection: f.Project(paths)}
	leaves := column.Leaves(p.Schema)
	for _, c := range s.cols {
		if own := f.leafOf(c); own == noLeaf {
			p.cols = append(p.cols, cutColumn{lacking: s.in.cols[c].Type.Plain()})
		} else {
			p.cols = append(p.cols, cutColumn{leaf: &leaves[at[own]]})
		}
	}
	return p
}

// leafOf is the leaf of the file that is a column of the table.
func (f *arrowFile) leafOf(col int) int {
	if col >= len(f.leaves) {
		return noLeaf
	}
	return f.leaves[col]
}

// Reader returns a reader of units, in any order.
func (s *arrowScan) Reader() cpu.Reader {
	return &arrowReader{cutter: cutter{from: s.in.from, batchRows: s.batchRows}, scan: s}
}

type arrowReader struct {
	cutter
	scan   *arrowScan
	file   *arrowFile // that is open; nil: none
	reader *arrowio.Reader
	unit   int // to be read; -1: none
	opened bool
}

func (r *arrowReader) Open(unit int) error {
	r.drop()
	r.unit, r.opened = unit, true
	return nil
}

func (r *arrowReader) Next(b *column.Batch) (bool, error) {
	for r.done() {
		r.drop()
		if !r.opened {
			return false, nil
		}
		r.opened = false
		if err := r.read(&r.scan.units[r.unit]); err != nil {
			return false, r.file.failure(err)
		}
	}
	err := r.cut(b)
	return err == nil, err
}

// read takes the record of a unit.
func (r *arrowReader) read(u *arrowUnit) error {
	if r.file != u.file {
		r.closeFile()
		on := r.scan.on[u.file]
		r.file, r.name, r.cols = u.file, u.file.name, on.cols
		r.reader = u.file.NewReader(on.Projection)
	}
	if far := u.file.far(); far != nil {
		off, size := u.file.Place(u.record)
		far.Want(u.record, [][2]int64{{off, size}}, true, false)
		defer far.Done(u.record)
	}
	rec, err := r.reader.Read(u.file.src, u.record)
	if err == nil {
		r.setRecord(rec, u.first)
	}
	return err
}

func (r *arrowReader) closeFile() {
	r.drop()
	if r.reader != nil {
		r.reader.Close()
	}
	r.file, r.reader = nil, nil
}

// Close lets go of everything.
func (r *arrowReader) Close() {
	r.closeFile()
	r.cutter.Close()
}
