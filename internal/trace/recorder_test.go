package trace

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/trace/tracetest"
	"github.com/gagg-dev/gagg/streams"
)

// The document as Perfetto reads it, to the letter.
func TestRecorderGolden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		r := New(&out)
		reading := r.Span(Phases, "scan")
		device := r.Pipeline(1)
		time.Sleep(1500 * time.Nanosecond)
		reading()
		device(streams.Interval{Kind: streams.Waiting, Stream: -1, Slot: 3, Job: -1, From: 0, Length: 250})
		device(streams.Interval{Kind: streams.Computing, Stream: 0, Job: 0, From: 2 * time.Millisecond, Length: time.Millisecond, Bytes: 8})
		device(streams.Interval{Kind: streams.Computing, Stream: 0, Job: 1, From: 2999 * time.Microsecond, Length: time.Millisecond, Bytes: 8})
		r.Close()
		r.Close()
		r.Span(Worker(0), "too late")()
		const want = `{"displayTimeUnit":"ms","traceEvents":[
{"name":"process_name","ph":"M","pid":1,"tid":0,"ts":0.000,"args":{"name":"gagg"}},
{"name":"thread_name","ph":"M","pid":1,"tid":1,"ts":0.000,"args":{"name":"run"}},
{"name":"thread_sort_index","ph":"M","pid":1,"tid":1,"ts":0.000,"args":{}},
{"name":"scan","ph":"X","pid":1,"tid":1,"ts":0.000,"dur":1.500,"args":{}},
{"name":"thread_name","ph":"M","pid":1,"tid":2,"ts":0.000,"args":{"name":"GPU 1, slot 3: wait for a slot"}},
{"name":"thread_sort_index","ph":"M","pid":1,"tid":2,"ts":0.000,"args":{"sort_index":536903704}},
{"name":"wait for a slot","ph":"X","pid":1,"tid":2,"ts":0.000,"dur":0.250,"args":{}},
{"name":"thread_name","ph":"M","pid":1,"tid":3,"ts":0.000,"args":{"name":"GPU 1, stream 0: kernels"}},
{"name":"thread_sort_index","ph":"M","pid":1,"tid":3,"ts":0.000,"args":{"sort_index":402685955}},
{"name":"kernels","ph":"X","pid":1,"tid":3,"ts":2000.000,"dur":1000.000,"args":{"job":0,"bytes":8}},
{"name":"kernels","ph":"X","pid":1,"tid":3,"ts":3000.000,"dur":999.000,"args":{"job":1,"bytes":8}}
]}
`
		if out.String() != want {
			t.Errorf("got\n%s\nwant\n%s", out.String(), want)
		}
	})
}

// What many goroutines tell at once is one valid document, with all of it.
func TestRecorderAtOnce(t *testing.T) {
	var out strings.Builder
	r := New(&out)
	var all sync.WaitGroup
	const workers, each = 8, 300
	for n := range workers {
		all.Go(func() {
			device := r.Pipeline(0)
			for i := range each {
				r.Span(Worker(n), fmt.Sprint("unit ", i))()
				device(streams.Interval{Kind: streams.CopyingIn, Stream: n, Job: i, From: time.Duration(i) * 10, Length: 12})
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	r.Close()
	rows := tracetest.Rows(t, out.String())
	if len(rows) != 2*workers {
		t.Errorf("%d rows, want %d", len(rows), 2*workers)
	}
	for name, list := range rows {
		if len(list) != each {
			t.Errorf("%s has %d intervals, want %d", name, len(list), each)
		}
	}
}

// failingWriter refuses all.
type failingWriter struct{ calls int }

func (w *failingWriter) Write([]byte) (int, error) {
	w.calls++
	return 0, errors.New("the disk is full")
}

// A timeline that cannot be written stops nothing, and is not tried again.
func TestRecorderFails(t *testing.T) {
	var w failingWriter
	r := New(&w)
	for range 10_000 {
		r.Span(Maker(0), "merge")()
	}
	r.Close()
	if w.calls != 1 {
		t.Errorf("%d writes after the first one failed", w.calls-1)
	}
	var none *Recorder
	none.Span(Phases, "scan")()
	none.Close()
	if none.Pipeline(0) != nil {
		t.Error("a pipeline is traced for nobody")
	}
}

// idleReader reads nothing.
type idleReader struct{ opened, closed int }

func (r *idleReader) Where(func(*column.Batch, []int32) ([]int32, error), []int) bool {
	return false
}
func (r *idleReader) Open(int) error                   { r.opened++; return nil }
func (r *idleReader) Next(*column.Batch) (bool, error) { return false, nil }
func (r *idleReader) Close()                           { r.closed++ }

// Each worker is a row, each of its units an interval.
func TestRecorderReaders(t *testing.T) {
	var out strings.Builder
	var idle idleReader
	r := New(&out)
	open := r.Readers(func() cpu.Reader { return &idle })
	for range 2 {
		reader := open()
		for unit := range 3 {
			if err := reader.Open(unit); err != nil {
				t.Fatal(err)
			}
		}
		reader.Close()
	}
	r.Close()
	rows := tracetest.Rows(t, out.String())
	if len(rows["worker 0"]) != 3 || len(rows["worker 1"]) != 3 || idle != (idleReader{opened: 6, closed: 2}) {
		t.Errorf("%v, %+v", rows, idle)
	}
	var none *Recorder
	if reader := none.Readers(func() cpu.Reader { return &idle })(); reader != cpu.Reader(&idle) {
		t.Error("a reader is traced for nobody")
	}
}
