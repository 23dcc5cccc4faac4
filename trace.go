package gagg

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/streams"
)

// recorder writes the timeline of a run in Chrome's trace event format: a JSON
// document with one process, gagg, whose threads are the rows of the drawing.
//
//	run                    reading, then output
//	worker 0               a worker's time, by what it did
//	GPU 0, stream 1: …     copy in, kernels, copy out and deliver of one lane
//	GPU 0, slot 2: …       who waited for this slot, and who filled it
//
// Intervals are written as they end, through a buffer of fixed size; only the
// rows are remembered. All methods may be called from several goroutines at once,
// and those of a nil *recorder do nothing.
//
// ROW: intervals of a row do not overlap, and are told in the order of their
// ends. One that begins before the one in front of it has ended is cut: a worker
// may have waited for a slot while another one waited for it and got it first; and
// the times of a device resolve half a microsecond and drift against those of the
// host.
type recorder struct {
	began time.Time

	mu     sync.Mutex
	out    *bufio.Writer
	rows   map[traceRow]*tracedRow
	events int
	closed bool
	err    error // of the first failed write; nothing is written after it
}

// traceRow is a row of the drawing. Rows are shown by rank, then by number, then by kind.
type traceRow struct {
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

// rowOfRun is the row of the phases of the run.
var rowOfRun = traceRow{}

// rowOfWorker is the row of a goroutine that reads, from 0.
func rowOfWorker(n int) traceRow { return traceRow{rank: rankWorker, number: n} }

// rowOfMaker is the row of a goroutine that merges and makes records, from 0.
func rowOfMaker(n int) traceRow { return traceRow{rank: rankMaker, number: n} }

func (r traceRow) String() string {
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
func (r traceRow) place() int {
	const numbers, kinds = 1 << 12, 8
	return ((int(r.rank)*numbers+r.device)*numbers+r.number)*kinds + int(r.kind)
}

// tracedRow is what is remembered of a row.
type tracedRow struct {
	thread int
	end    time.Duration // of its last interval
}

// newRecorder begins a timeline now; nil: nobody wants one.
func newRecorder(out io.Writer) *recorder {
	if out == nil {
		return nil
	}
	r := &recorder{began: time.Now(), out: bufio.NewWriterSize(out, 64<<10), rows: map[traceRow]*tracedRow{}}
	r.write(`{"displayTimeUnit":"ms","traceEvents":[`)
	r.event(traceEvent{Name: "process_name", Phase: "M", Args: traceArgs{Name: "gagg"}})
	return r
}

// span begins an interval of the row; the function that it returns ends it.
func (r *recorder) span(row traceRow, name string) (end func()) {
	if r == nil {
		return func() {}
	}
	from := time.Since(r.began)
	return func() { r.interval(row, name, from, time.Since(r.began)-from, traceArgs{}) }
}

// pipeline is for the Trace of the pipeline of a device that is about to be
// started; nil if nobody wants a timeline.
func (r *recorder) pipeline(device int) func(streams.Interval) {
	if r == nil {
		return nil
	}
	begins := time.Since(r.began)
	return func(i streams.Interval) {
		row := traceRow{rank: rankStream, device: device, number: i.Stream, kind: i.Kind}
		args := traceArgs{Bytes: i.Bytes}
		if i.Stream < 0 {
			row.rank, row.number = rankSlot, i.Slot
		} else {
			args.Job = &i.Job
		}
		r.interval(row, i.Kind.String(), begins+i.From, i.Length, args)
	}
}

// interval writes an interval that has ended.
func (r *recorder) interval(row traceRow, name string, from, length time.Duration, args traceArgs) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.row(row)
	end := max(from+length, t.end)
	from = max(from, t.end)
	t.end = end
	r.event(traceEvent{
		Name: name, Phase: "X", Thread: t.thread, Args: args,
		From: microseconds(from), Length: new(microseconds(end - from)),
	})
}

// row finds a row, or names it where it is new.
func (r *recorder) row(row traceRow) *tracedRow {
	t := r.rows[row]
	if t == nil {
		t = &tracedRow{thread: len(r.rows) + 1}
		r.rows[row] = t
		r.event(traceEvent{Name: "thread_name", Phase: "M", Thread: t.thread, Args: traceArgs{Name: row.String()}})
		r.event(traceEvent{Name: "thread_sort_index", Phase: "M", Thread: t.thread, Args: traceArgs{Place: row.place()}})
	}
	return t
}

// close ends the document. What is told afterwards is left out.
func (r *recorder) close() {
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

// traceEvent is an event as the format has it: "X" is an interval, "M" a fact
// about a row.
type traceEvent struct {
	Name    string        `json:"name"`
	Phase   string        `json:"ph"`
	Process int           `json:"pid"`
	Thread  int           `json:"tid"`
	From    microseconds  `json:"ts"`
	Length  *microseconds `json:"dur,omitempty"`
	Args    traceArgs     `json:"args"`
}

type traceArgs struct {
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

// event writes e. It has nothing that JSON cannot say.
func (r *recorder) event(e traceEvent) {
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

func (r *recorder) write(text string) {
	if r.err == nil && !r.closed {
		_, r.err = r.out.WriteString(text)
	}
}
