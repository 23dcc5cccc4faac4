package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/sink"
)

// The memory limit is that of the whole process. It covers the budget of the run, and the memory
// that the process needs beside it:
//
//	limit = program + garbage + slack + sink + query
//
// The shares were found by measuring peaks (docs/faults.md, F12): whatever
// the query and the format, the peak resident size is within the limit.
const (
	mib = 1 << 20
	// programBytes is the memory of a process beside its query: 18 MiB of a process without work,
	// which are pages of the binary and the runtime with its threads, and the further pages of the
	// binary that a query touches.
	programBytes = 26 * mib
	// Garbage is the bytes by which the Go heap may grow between two collections, and small
	// objects that no budget counts. The first collection of a run without a limit comes at 74
	// MiB: what is less than that is not worth a collection. While one runs, each pointer that is
	// stored costs more, and 16 threads that scan 3e7 rows took a twentieth longer with a fourth
	// of it (docs/experiments/0017).
	leastGarbage, mostGarbage = 6 * mib, 128 * mib
	garbagePart               = 16 // of a small limit: up to usualGarbage
	usualGarbage              = 32 * mib
	largeGarbagePart          = 128
	// Slack (gagg.Options.Slack) is for runs that have enough memory to trade it for speed.
	slackFrom, slackPart, mostSlack = 512 * mib, 32, 128 * mib
	// gcPercent is how much the heap may grow by garbage. Nearly all of a
	// large heap is pages and tables without pointers, so that a collection
	// costs next to nothing, while the default of 100 would double the
	// resident size.
	gcPercent = 10
)

// share is how the memory limit of the process is shared out, in bytes.
type share struct {
	Limit   int64 `json:"limit"` // 0: none, and so is Query
	Garbage int64 `json:"garbage"`
	Slack   int64 `json:"slack"` // freed memory that is kept, huge pages that are not full
	Sink    int64 `json:"sink"`  // to write the result
	Query   int64 `json:"query"` // the remainder, for the query
}

// outputForm has the properties of an output that decide how much memory writing takes.
type outputForm struct {
	format      sink.Format
	compression string // of text
	stream      bool   // it cannot be taken back, so its beginning is buffered
}

// shareOf shares out a limit for a query whose result has that form.
func shareOf(limit int64, form outputForm) share {
	if limit == 0 {
		limit = math.MaxInt64
	}
	s := share{
		Limit:   limit,
		Garbage: max(leastGarbage, min(limit/garbagePart, usualGarbage), min(limit/largeGarbagePart, mostGarbage)),
		Slack:   max(0, min((limit-slackFrom)/slackPart, mostSlack)),
		Sink:    sinkBytes(limit, form),
	}
	s.Query = max(limit-programBytes-s.Garbage-s.Slack-s.Sink, 1)
	if limit == math.MaxInt64 {
		s.Limit, s.Query = 0, 0
	}
	return s
}

// String is the share for people.
func (s share) String() string {
	text := func(n int64) string { return humanize.IBytes(uint64(n)) }
	return fmt.Sprintf("%s at most: %s for the query, %s to write its result, %s for garbage and slack, %s for the program",
		text(s.Limit), text(s.Query), text(s.Sink), text(s.Garbage+s.Slack), text(programBytes))
}

// Parquet gathers a row group, and a table all rows that it shows; the others write as they go.
const (
	leastGather, mostGather = 8 * mib, 256 * mib
	gatherPart              = 8
	textBytes               = 2 * mib
	// These were measured: the memory for compressing text.
	gzipBytes, zstdBytes = 1 * mib, 8 * mib
)

func sinkBytes(limit int64, form outputForm) int64 {
	n := int64(textBytes)
	switch form.format {
	case sink.None:
		n = 0
	case sink.Parquet, sink.Table:
		n = max(leastGather, min(limit/gatherPart, mostGather))
	}
	if form.format.IsText() {
		switch form.compression {
		case "gzip":
			n += gzipBytes
		case "zstd":
			n += zstdBytes
		}
	}
	if form.stream {
		n += answerBytes
	}
	return n
}

// heapShare sets the limits of the Go runtime for a share, while a run lasts.
//
// A collection starts when the heap has grown by half of the garbage; the other half is for what
// is allocated during the collection. The runtime takes only a percentage of the heap, so it is
// set again after each collection. A ballast of constant size would have the same effect, but it
// may be cleared, and so resident, if it is made of memory that was used before.
type heapShare struct {
	share
	percent int   // of before
	limit   int64 // of before

	mu   sync.Mutex
	over bool // undone
}

// leastHeap is the size of the heap at which the Go runtime first collects it, at 100 percent.
const leastHeap = 4 * mib

// limitRuntime sets the limits of the Go runtime, until undo is called.
func (s share) limitRuntime() (undo func()) {
	h := &heapShare{share: s}
	h.percent = debug.SetGCPercent(s.heapPercent(0))
	h.limit = debug.SetMemoryLimit(s.lastResort())
	h.awaitCollection()
	return h.undo
}

// heapPercent is the percentage by which a heap with that many live bytes may grow: by half of the
// garbage, and gcPercent.
func (s share) heapPercent(live int64) int {
	most := s.Garbage / 2 * 100 / leastHeap // which makes the least heap half of the garbage
	return int(min(most, s.Garbage/2*100/max(live, 1)+gcPercent))
}

// lastResort is the runtime's own limit: the whole of the process less the
// binary. At it the heap is collected as often as it can be.
func (s share) lastResort() int64 {
	if s.Limit == 0 {
		return math.MaxInt64
	}
	return max(s.Limit-programBytes/2, programBytes/2)
}

// awaitCollection arranges a call of collected after the next collection.
func (h *heapShare) awaitCollection() {
	sentinel := new(heapShare) // with pointers, so that it is no part of another object
	runtime.AddCleanup(sentinel, (*heapShare).collected, h)
}

// collected is called after a collection.
func (h *heapShare) collected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	debug.SetGCPercent(h.heapPercent(liveHeap()))
	h.awaitCollection()
}

// liveHeap is the bytes that the last collection found in use, and those of the stacks and globals
// that it scanned.
func liveHeap() (bytes int64) {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(s)
	for i := range s {
		bytes += int64(s[i].Value.Uint64())
	}
	return bytes
}

func (h *heapShare) undo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	debug.SetMemoryLimit(h.limit)
	debug.SetGCPercent(h.percent)
}

// enough is the least limit for the process, in whole MiB, that leaves that much for the query.
func enough(query int64, form outputForm) int64 {
	limit := int64(mib)
	for shareOf(limit, form).Query < query {
		limit += mib
	}
	return limit
}

// needError says which limit of the process is enough, if the library has said which limit is
// enough for the query.
func (s share) needError(err error, form outputForm) error {
	var need *gagg.NeedError
	if !errors.As(err, &need) {
		return err
	}
	return &shareError{cause: need, limit: s.Limit, enough: enough(need.Need, form)}
}

// shareError is a NeedError in terms of the process.
type shareError struct {
	cause         *gagg.NeedError
	limit, enough int64
}

func (e *shareError) Error() string {
	columns := "columns"
	if e.cause.Columns == 1 {
		columns = "column"
	}
	if e.cause.Result != "" {
		return fmt.Sprintf("--memory-limit %s is too small: %s; %d MiB are enough", humanize.IBytes(uint64(e.limit)), e.cause.Result, e.enough/mib)
	}
	return fmt.Sprintf("--memory-limit %s is too small: needs at least %d MiB for %d %s and 1 thread",
		humanize.IBytes(uint64(e.limit)), e.enough/mib, e.cause.Columns, columns)
}

func (e *shareError) Is(target error) bool { return target == gagg.ErrBudget }
