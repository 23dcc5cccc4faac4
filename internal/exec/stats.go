package exec

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/remote"
)

// Stats is what a run did: the library says what each count means.
type Stats struct {
	Threads                                                int
	Rows, Groups                                           int64
	BytesRead                                              int64
	RowGroups                                              int
	GroupsSkipped, PagesSkipped, RowsSkipped, BytesSkipped int64
	FoldersSkipped, FilesSkipped                           int
	Scan, Output                                           time.Duration
	GroupEstimate                                          int64
	Partitions                                             int
	Partitioned                                            bool
	Distinct                                               []Distinct
	PeakMemory, SpilledBytes, PipedBytes                   int64

	Plan   *plan.Plan   // of the last attempt
	Remote remote.Stats // of inputs on servers

	Device  string        // that was used
	Devices []DeviceStats // of all attempts: a device may be there several times
	Batches gpu.BatchStats

	Texts, TextBytes int64 // of keys that devices had
	Fallbacks        []Fallback
}

// ExactSum is an exact sum of floats of the plan.
type ExactSum = plan.ExactSum

// DeviceStats is what an attempt did on one device.
type DeviceStats = gpu.Stats

// Distinct is a grouping by the keys and a value, for aggregates of distinct values.
type Distinct struct {
	Value       string
	Groups      int64
	Partitions  int
	Partitioned bool
}

// Fallback is something that the CPU did in place of a device, and why.
type Fallback struct {
	What  string
	Why   string
	Count int64
}

// Stats returns counts of the run; they are complete once Next has returned false.
func (r *Rows) Stats() Stats {
	run := r.run
	ended := r.end
	if ended.IsZero() {
		ended = time.Now()
	}
	pages, ruledOut := run.scan.SkippedInside()
	facts, groups := &run.plan.Facts, &run.current.Load().groups
	s := Stats{
		Plan: run.plan, Threads: run.plan.Threads,
		Rows: run.rowsRead.Load(), Groups: r.groups,
		BytesRead: run.bytesDone.Load() - run.bytesLeft.Load(), RowGroups: run.scan.RowGroups(),
		GroupsSkipped: facts.SkippedGroups, PagesSkipped: pages,
		RowsSkipped: facts.SkippedRows + ruledOut, BytesSkipped: facts.SkippedBytes + run.bytesLeft.Load(),
		FoldersSkipped: facts.SkippedFolders, FilesSkipped: facts.SkippedFiles,
		Scan: run.scanTime, Output: ended.Sub(run.started) - run.scanTime,
		GroupEstimate: int64(groups.Estimate), Partitions: run.partitions, Partitioned: groups.Partitioned,
		PeakMemory: run.budget.Peak(), SpilledBytes: run.disk.Written(), PipedBytes: run.temp.spooled.Written(), Remote: run.temp.remote.Stats(),
	}
	for i, f := range groups.Distinct {
		s.Distinct = append(s.Distinct, Distinct{run.plan.Query.ArgTexts[run.plan.Sets[i].Arg], f.Groups, f.Partitions, f.Partitioned})
	}
	run.addDevices(&s)
	if r.subrun != nil {
		r.subrun.add(&s)
	}
	return s
}

// addDevices adds what devices did, in both attempts, and what the CPU did in their place.
func (r *run) addDevices(s *Stats) {
	var used []int
	invalidated, current := r.invalidated.Load(), r.current.Load()
	for _, a := range []*attempt{invalidated, current} {
		if a == nil || a.devices == nil {
			continue
		}
		for _, d := range a.devices.Stats() {
			s.Devices = append(s.Devices, d)
			if a != invalidated && d.First.Rows > 0 {
				used = append(used, d.Number)
			}
		}
	}
	s.Fallbacks = r.fallbacks.all()
	if current.devices != nil {
		s.Batches = current.devices.Batches()
		if s.Texts, s.TextBytes = current.texts.count(); s.Texts == 0 {
			s.Texts, s.TextBytes = current.devices.Texts()
		}
		s.Fallbacks = append(s.Fallbacks, declined(s.Batches)...)
	}
	slices.Sort(used)
	s.Device = device.Names(used)
}

// declined is the row groups that devices did not decode, by the reason. They are not logged as
// warnings: many files have long strings.
func declined(p gpu.BatchStats) (list []Fallback) {
	for _, why := range slices.Sorted(maps.Keys(p.Declined)) {
		list = append(list, Fallback{What: "decoding a row group", Why: why, Count: p.Declined[why]})
	}
	return list
}

// fallbacks collects the fallbacks of a run, from any goroutine.
type fallbacks struct {
	mu   sync.Mutex
	list []Fallback // each once, in the order of their first time
}

// add notes that the CPU takes over from a device, and why. The first time for each reason it is
// logged as a warning: the answer is right, but the run takes longer than expected.
func (f *fallbacks) add(log *slog.Logger, what, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		if known := &f.list[i]; known.What == what && known.Why == why {
			known.Count++
			return
		}
	}
	f.list = append(f.list, Fallback{What: what, Why: why, Count: 1})
	log.Warn("the CPU goes on in place of the GPU", slog.String("what", what), slog.String("why", why))
}

// all is the fallbacks so far.
func (f *fallbacks) all() []Fallback {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Fallback{}, f.list...)
}

// logDevices says what became of devices that might have taken part. That there are none is for a
// log alone: a line in every run on every machine without a GPU would be noise.
func (a *attempt) logDevices(log *slog.Logger) {
	if a.devices == nil {
		return
	}
	switch pending, err := a.devices.Opened(); {
	case pending:
		log.Debug("no GPU was ready in time")
	case err != nil:
		log.Debug("no GPU", slog.String("reason", device.Problem(err)))
	default:
		for _, d := range a.devices.Stats() {
			log.Debug("GPU", slog.Int("number", d.Number), slog.Duration("start", d.Start),
				slog.Uint64("rows", d.First.Rows), slog.Bool("in_core", d.First.InCore))
		}
	}
}
