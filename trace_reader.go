package gagg

import (
	"strconv"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/cpu"
)

// readers has the timeline show what the readers of workers are at: each worker is a
// row, each unit an interval from its opening to that of the next one.
func (r *recorder) readers(open func() cpu.Reader) func() cpu.Reader {
	if r == nil {
		return open
	}
	var workers atomic.Int64
	return func() cpu.Reader {
		row := rowOfWorker(int(workers.Add(1)) - 1)
		return &tracedReader{Reader: open(), recorder: r, row: row}
	}
}

// tracedReader is the reader of a worker, whose time it notes.
type tracedReader struct {
	cpu.Reader
	recorder *recorder
	row      traceRow
	end      func() // of the unit's interval; nil: none is open
}

func (t *tracedReader) Open(unit int) error {
	t.finish()
	t.end = t.recorder.span(t.row, "unit "+strconv.Itoa(unit))
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
