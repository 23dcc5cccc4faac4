package trace

import (
	"strconv"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Readers has the timeline show what the readers of workers are at: each worker is a
// row, each unit an interval from its opening to that of the next one.
func (r *Recorder) Readers(open func() cpu.Reader) func() cpu.Reader {
	if r == nil {
		return open
	}
	var workers atomic.Int64
	return func() cpu.Reader {
		row := Worker(int(workers.Add(1)) - 1)
		return &tracedReader{Reader: open(), recorder: r, row: row}
	}
}

// tracedReader is the reader of a worker, whose time it notes.
type tracedReader struct {
	cpu.Reader
	recorder *Recorder
	row      Row
	end      func() // of the unit's interval; nil: none is open
}

func (t *tracedReader) Open(unit int) error {
	t.finish()
	t.end = t.recorder.Span(t.row, "unit "+strconv.Itoa(unit))
	return t.Reader.Open(unit)
}

func (t *tracedReader) Close() {
	t.finish()
	t.Reader.Close()
}

func (t *tracedReader) finish() {
	if t.end != nil {
		t.end()
		t.end = nil
	}
}

// Building makes the builder of a worker that reads Parquet files by r. The timeline shows its
// units too.
func Building(r cpu.Reader, open func(*parquetio.Reader) cpu.BatchBuilder) cpu.BatchBuilder {
	t, traced := r.(*tracedReader)
	if !traced {
		return open(r.(*parquetio.Reader))
	}
	return &tracedBuilder{open(t.Reader.(*parquetio.Reader)), t}
}

// tracedBuilder is the builder of a worker, whose time it notes.
type tracedBuilder struct {
	cpu.BatchBuilder
	reader *tracedReader
}

func (t *tracedBuilder) Add(unit int) (int64, encoded.Added, error) {
	t.reader.finish()
	defer t.reader.recorder.Span(t.reader.row, "pack unit "+strconv.Itoa(unit))()
	return t.BatchBuilder.Add(unit)
}
