// Package trace writes the timeline of a run for a drawing: the phases of the run, the time of each
// worker, and the lanes and slots of devices. It owns the document and its format, not the writer.
package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/streams"
)

// Recorder writes the timeline of a run in Chrome's trace event format: a JSON
// document with one process, gagg, whose threads are the rows of the drawing.
//
//	run                    reading, then output
//	worker 0               a worker's time, by what it did
//	GPU 0, stream 1: …     copy in, kernels, copy out and deliver of one lane
//	GPU 0, slot 2: …       who waited for this slot, and who filled it
//
// Intervals are written as they end, through a buffer of fixed size; only the
// rows are remembered. All methods may be called from several goroutines at once,
// and those of a nil *Recorder do nothing.
//
// ROW: intervals of a row do not overlap, and are told in the order of their
// ends. One that begins before the one in front of it has ended is cut: a worker
// may have waited for a slot while another one waited for it and got it first; and
// the times of a device resolve half a microsecond and drift against those of the
// host.
type Recorder struct {
	began time.Time

	mu     sync.Mutex
	out    *bufio.Writer
	rows   map[Row]*drawnRow
	events int
	closed bool
	err    error // of the first failed write; nothing is written after it
}

// Row is a row of the drawing. Rows are shown by rank, then by number, then by kind.
type Row struct {
	rank   rowRank
	device int
	number int
	kind   streams.Kind // of ranks stream and slot
}

type rowRank int

const (
	rankRun    rowRank = iota // the one row of the run as a whole
	rankWorker                // a goroutine that reads
	rankMaker                 // a goroutine that makes the result
	rankStream                // of a lane of a device
	rankSlot                  // of the pinned memory between workers and a device
)

// Phases is the row of the run as a whole.
var Phases = Row{}

// Worker is the row of a goroutine that reads, from 0.
func Worker(n int) Row { return Row{rank: rankWorker, number: n} }

// Maker is the row of a goroutine that merges and makes records, from 0.
func Maker(n int) Row { return Row{rank: rankMaker, number: n} }

func (r Row) String() string {
	switch r.rank {
	case rankWorker:
		return fmt.Sprintf("worker %d", r.number)
	case rankMaker:
		return fmt.Sprintf("output %d", r.number)
	case rankStream:
		return fmt.Sprintf("GPU %d, stream %d: %v", r.device, r.number, r.kind)
	case rankSlot:
		return fmt.Sprintf("GPU %d, slot %d: %v", r.device, r.number, r.kind)
	}
	return "run"
}

// place orders the rows of the drawing.
func (r Row) place() int {
	const numbers, kinds = 1 << 12, 8
	return ((int(r.rank)*numbers+r.device)*numbers+r.number)*kinds + int(r.kind)
}

// drawnRow is what is remembered of a row.
type drawnRow struct {
	thread int
	end    time.Duration // of its last interval
}

// New begins a timeline now; nil: nobody wants one. The caller closes it.
func New(out io.Writer) *Recorder {
	if out == nil {
		return nil
	}
	r := &Recorder{began: time.Now(), out: bufio.NewWriterSize(out, 64<<10), rows: map[Row]*drawnRow{}}
	r.write(`{"displayTimeUnit":"ms","traceEvents":[`)
	r.emit(event{Name: "process_name", Phase: "M", Args: eventArgs{Name: "gagg"}})
	return r
}

// Span begins an interval of the row; the function that it returns ends it.
func (r *Recorder) Span(row Row, name string) (end func()) {
	if r == nil {
		return func() {}
	}
	from := time.Since(r.began)
	return func() { r.interval(row, name, from, time.Since(r.began)-from, eventArgs{}) }
}

// Pipeline is for the Trace of the pipeline of a device that is about to be
// started; nil if nobody wants a timeline.
func (r *Recorder) Pipeline(device int) func(streams.Interval) {
	if r == nil {
		return nil
	}
	begins := time.Since(r.began)
	return func(i streams.Interval) {
		row := Row{rank: rankStream, device: device, number: i.Stream, kind: i.Kind}
		args := eventArgs{Bytes: i.Bytes}
		if i.Stream < 0 {
			row.rank, row.number = rankSlot, i.Slot
		} else {
			args.Job = &i.Job
		}
		r.interval(row, i.Kind.String(), begins+i.From, i.Length, args)
	}
}

// interval writes an interval that has ended.
func (r *Recorder) interval(row Row, name string, from, length time.Duration, args eventArgs) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.row(row)
	end := max(from+length, t.end)
	from = max(from, t.end)
	t.end = end
	r.emit(event{
		Name: name, Phase: "X", Thread: t.thread, Args: args,
		From: microseconds(from), Length: new(microseconds(end - from)),
	})
}

// row finds a row, or names it where it is new.
func (r *Recorder) row(row Row) *drawnRow {
	t := r.rows[row]
	if t == nil {
		t = &drawnRow{thread: len(r.rows) + 1}
		r.rows[row] = t
		r.emit(event{Name: "thread_name", Phase: "M", Thread: t.thread, Args: eventArgs{Name: row.String()}})
		r.emit(event{Name: "thread_sort_index", Phase: "M", Thread: t.thread, Args: eventArgs{Place: row.place()}})
	}
	return t
}

// Close ends the document. What is told afterwards is left out.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.write("\n]}\n")
	r.closed = true
	if r.err == nil {
		r.err = r.out.Flush()
	}
}

// event is an event as the format has it: "X" is an interval, "M" a fact
// about a row.
type event struct {
	Name    string        `json:"name"`
	Phase   string        `json:"ph"`
	Process int           `json:"pid"`
	Thread  int           `json:"tid"`
	From    microseconds  `json:"ts"`
	Length  *microseconds `json:"dur,omitempty"`
	Args    eventArgs     `json:"args"`
}

type eventArgs struct {
	Name  string `json:"name,omitempty"`
	Place int    `json:"sort_index,omitempty"`
	Job   *int   `json:"job,omitempty"` // in the order of submission
	Bytes int    `json:"bytes,omitempty"`
}

// microseconds is a duration in the unit of the format.
type microseconds time.Duration

func (m microseconds) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%03d", m/1000, m%1000), nil
}

// emit writes e. It has nothing that JSON cannot say.
func (r *Recorder) emit(e event) {
	e.Process = 1
	text, _ := json.Marshal(e)
	separator := ",\n"
	if r.events == 0 {
		separator = "\n"
	}
	r.events++
	r.write(separator)
	r.write(string(text))
}

func (r *Recorder) write(text string) {
	if r.err == nil && !r.closed {
		_, r.err = r.out.WriteString(text)
	}
}
