package main

import (
	"errors"
	"fmt"
	"os"
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

var errDamaged = errors.New("stdin: damaged Arrow IPC file")

// openArrowFile reads the footer of f.
func openArrowFile(f *os.File) (_ array.RecordReader, err error) {
	defer func() {
		if p := recover(); p != nil { // the library indexes by what the file says
			err = fmt.Errorf("%w: %v", errDamaged, p)
		}
	}()
	info, err := f.Stat()
	if err == nil {
		err = checkFooter(f, info.Size())
	}
	if errors.Is(err, errArrowDepth) {
		return nil, fmt.Errorf("stdin: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	file, err := ipc.NewFileReader(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	r := &arrowFile{file: file}
	r.refs.Store(1)
	return r, nil
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
