// Package arrowio reads Arrow IPC, which it looks at before the library does: the library goes down
// into a schema by calling itself, and indexes by what a file says.
package arrowio

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// arrowFile reads the records of an Arrow IPC file in order. Unlike a stream
// it has its index at its end, so it must be seekable.
type arrowFile struct {
	file *ipc.FileReader
	refs atomic.Int64
	next int
	rec  arrow.Record // nil: none at hand
	err  error
}

var errDamaged = errors.New("damaged Arrow IPC file")

// OpenFile reads the footer of the size bytes of r.
func OpenFile(r io.ReaderAt, size int64) (_ array.RecordReader, err error) {
	defer func() {
		if p := recover(); p != nil { // the library indexes by what the file says
			err = fmt.Errorf("%w: %v", errDamaged, p)
		}
	}()
	if err := checkFooter(r, size); errors.Is(err, ErrDepth) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	file, err := ipc.NewFileReader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	a := &arrowFile{file: file}
	a.refs.Store(1)
	return a, nil
}

func (r *arrowFile) Schema() *arrow.Schema { return r.file.Schema() }
func (r *arrowFile) Record() arrow.Record  { return r.rec }
func (r *arrowFile) Err() error            { return r.err }
func (r *arrowFile) Retain()               { r.refs.Add(1) }

func (r *arrowFile) Release() {
	if r.refs.Add(-1) == 0 {
		r.drop()
	}
}

func (r *arrowFile) drop() {
	if r.rec != nil {
		r.rec.Release()
		r.rec = nil
	}
}

// Next reads a record; what Record gave before is released.
func (r *arrowFile) Next() (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			r.err, ok = fmt.Errorf("%w: %v", errDamaged, p), false
		}
	}()
	r.drop()
	if r.err != nil || r.next == r.file.NumRecords() {
		return false
	}
	if r.rec, r.err = r.file.RecordAt(r.next); r.err != nil {
		r.rec, r.err = nil, fmt.Errorf("%w: %w", errDamaged, r.err)
		return false
	}
	r.next++
	return true
}
