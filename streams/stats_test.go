package streams_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/streams"
)

// tracer keeps the intervals of a pipeline.
type tracer struct {
	mu   sync.Mutex
	list []streams.Interval
}

func (r *tracer) add(i streams.Interval) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, i)
}

// row is what intervals of a drawing's line have in common.
type row struct {
	kind         streams.Kind
	stream, slot int
}

func (r *tracer) rows() map[row][]streams.Interval {
	rows := map[row][]streams.Interval{}
	for _, i := range r.list {
		k := row{i.Kind, i.Stream, i.Slot}
		rows[k] = append(rows[k], i)
	}
	for _, list := range rows {
		slices.SortFunc(list, func(a, b streams.Interval) int { return cmp.Compare(a.From, b.From) })
	}
	return rows
}

// Each job has its intervals, those of a row do not overlap but for waits (of two producers
// that wait at once, both may get the same slot, one after the other), and the statistics are
// their sums.
func TestTrace(t *testing.T) {
	r := newRig(t)
	slow(t)
	config := small()
	tr := &tracer{}
	config.Trace = tr.add
	jobs := r.jobs(30, 4, nil)
	from := time.Now()
	must(t, r.run(context.Background(), t, config, jobs, 3))
	took := time.Since(from)
	count := map[streams.Kind]int{}
	total := map[streams.Kind]time.Duration{}
	for _, i := range tr.list {
		count[i.Kind]++
		total[i.Kind] += i.Length
		if i.Length < 0 || i.From < -time.Millisecond || i.From+i.Length > took+time.Millisecond {
			t.Errorf("of %v: %+v", took, i)
		}
	}
	for kind := streams.Waiting; kind <= streams.Delivering; kind++ {
		if count[kind] != len(jobs) {
			t.Errorf("%d intervals of %v for %d jobs", count[kind], kind, len(jobs))
		}
	}
	for k, list := range tr.rows() {
		if k.kind == streams.Waiting {
			continue
		}
		for n := range len(list) - 1 {
			const resolution = 2 * time.Microsecond // twice that of an event
			if end := list[n].From + list[n].Length; end > list[n+1].From+resolution {
				t.Errorf("%+v: %+v and %+v overlap", k, list[n], list[n+1])
			}
		}
	}
	checkSums(t, r.stats, jobs, total)
}

func checkSums(t *testing.T, s streams.Stats, jobs []*job, total map[streams.Kind]time.Duration) {
	t.Helper()
	var sum streams.StreamStats
	for _, l := range s.Streams {
		sum.Jobs += l.Jobs
		sum.BytesIn += l.BytesIn
		sum.BytesOut += l.BytesOut
		sum.CopyIn += l.CopyIn
		sum.Kernels += l.Kernels
		sum.CopyOut += l.CopyOut
		sum.Deliver += l.Deliver
	}
	var in, out int64
	for _, j := range jobs {
		in, out = in+int64(8*j.words), out+int64(8*j.sums)
	}
	if sum.Jobs != len(jobs) || sum.BytesIn != in || sum.BytesOut != out {
		t.Errorf("%d jobs with %d bytes in and %d out; the statistics say %+v", len(jobs), in, out, sum)
	}
	for kind, length := range map[streams.Kind]time.Duration{
		streams.Waiting: s.Wait, streams.Filling: s.Fill, streams.CopyingIn: sum.CopyIn, streams.Computing: sum.Kernels,
		streams.CopyingOut: sum.CopyOut, streams.Delivering: sum.Deliver,
	} {
		if length != total[kind] {
			t.Errorf("%v: %v in the statistics, %v in the trace", kind, length, total[kind])
		}
	}
}

// On one lane alone, jobs are copied in and out while the kernels of others run. Where the lane's
// thread has to wait for a core, a device has to be slower for it to have the next job there in
// time.
func TestOverlap(t *testing.T) {
	e := emulator(t)
	r := newRig(t)
	defer e.Slow(0, 0)
	overlaps := false
	for step := time.Millisecond; !overlaps && step < 200*time.Millisecond; step *= 4 {
		e.Slow(step, step)
		tr := overlapping(t, r, 3)
		overlaps = tr.overlap(streams.CopyingIn) && tr.overlap(streams.CopyingOut)
	}
	if !overlaps {
		t.Error("copies do not overlap the kernels of other jobs")
	}
	e.Slow(time.Millisecond, time.Millisecond)
	// of the same job
	if tr := overlapping(t, r, 1); tr.overlap(streams.CopyingIn) || tr.overlap(streams.CopyingOut) {
		t.Error("a single stage overlaps with itself")
	}
}

func overlapping(t *testing.T, r *rig, depth int) *tracer {
	t.Helper()
	tr := &tracer{}
	config := small()
	config.Streams, config.Depth, config.Slots, config.Trace = 1, depth, 6, tr.add
	must(t, r.run(context.Background(), t, config, r.jobs(10, 4, nil), 2))
	return tr
}

// overlap reports whether such copies go on while kernels run, for most jobs.
func (r *tracer) overlap(copying streams.Kind) bool {
	jobs, during := 0, 0
	for _, kernels := range r.list {
		if kernels.Kind != streams.Computing {
			continue
		}
		jobs++
		if slices.ContainsFunc(r.list, func(c streams.Interval) bool {
			return c.Kind == copying && c.From < kernels.From+kernels.Length && kernels.From < c.From+c.Length
		}) {
			during++
		}
	}
	return during > jobs/2
}

// Without a trace nothing is timed by the device, but by the host.
func TestUntimed(t *testing.T) {
	r := newRig(t)
	must(t, r.run(context.Background(), t, small(), r.jobs(10, 4, nil), 2))
	for _, l := range r.stats.Streams {
		if l.CopyIn != 0 || l.Kernels != 0 || l.CopyOut != 0 {
			t.Errorf("%+v", l)
		}
	}
	if e, emulated := emu.Control(); emulated && e.Calls()["cuEventElapsedTime"] != 0 {
		t.Error("events are asked for their times")
	}
	if r.stats.Fill == 0 {
		t.Error("filling took no time")
	}
}
