package gagg

import (
	"time"
)

// Stats is what a run did.
type Stats struct {
	Device        string       `json:"device"` // that was used: cpu, gpu:0, gpu:0,1
	Threads       int          `json:"threads"`
	Rows          int64        `json:"rows"`           // read, before the filter
	Groups        int64        `json:"groups"`         // put out
	BytesRead     int64        `json:"bytes_read"`     // compressed bytes of the wanted columns, in row groups of which a row was read
	RowGroups     int          `json:"row_groups"`     // read
	GroupsSkipped int64        `json:"groups_skipped"` // row groups that statistics ruled out
	PagesSkipped  int64        `json:"pages_skipped"`  // of the others: not decompressed, by statistics or as the filter left no row in them
	RowsSkipped   int64        `json:"rows_skipped"`   // that statistics of row groups or pages ruled out, or held no least or greatest value
	BytesSkipped  int64        `json:"bytes_skipped"`
	RowsPerSecond float64      `json:"rows_per_second"`
	GroupEstimate int64        `json:"group_estimate"` // by a HyperLogLog over the rows that were placed in partitions
	Partitions    int          `json:"partitions"`
	Partitioned   bool         `json:"partitioned"`        // tables were given up for partitions while reading
	Distinct      []Distinct   `json:"distinct,omitempty"` // groupings by the keys and a value of which each counts once
	Phases        []PhaseStats `json:"phases"`
	PeakMemory    int64        `json:"peak_memory"`   // bytes held at most, of what the memory limit counts
	SpilledBytes  int64        `json:"spilled_bytes"` // written to the temp folder, as stored

	Devices   []DeviceStats `json:"devices"`   // none: the CPU did it all
	Encoded   EncodedStats  `json:"encoded"`   // row groups that devices decoded
	Fallbacks []Fallback    `json:"fallbacks"` // what the CPU did in place of a device
}

// Distinct is a grouping by the keys and a value, for aggregates of distinct values.
type Distinct struct {
	Value       string `json:"value"`
	Groups      int64  `json:"groups"` // different values, of all groups of the query together
	Partitions  int    `json:"partitions"`
	Partitioned bool   `json:"partitioned"`
}

// PhaseStats is how long a phase took.
type PhaseStats struct {
	Phase   Phase   `json:"phase"`
	Seconds float64 `json:"seconds"`
}

// Stats tells what the run did; complete once Next has returned false.
func (r *Rows) Stats() Stats {
	run := r.run
	ended := r.end
	if ended.IsZero() {
		ended = time.Now()
	}
	total := ended.Sub(run.started)
	pages, ruledOut := run.scan.Passed()
	s := Stats{
		Threads: run.threads,
		Rows:    run.rowsRead.Load(), Groups: r.groups,
		BytesRead: run.bytesDone.Load() - run.bytesLeft.Load(), RowGroups: run.scan.RowGroups(),
		GroupsSkipped: run.facts.SkippedGroups, PagesSkipped: pages, RowsSkipped: run.facts.SkippedRows + ruledOut, BytesSkipped: run.facts.SkippedBytes + run.bytesLeft.Load(),
		RowsPerSecond: float64(run.rowsRead.Load()) / total.Seconds(),
		GroupEstimate: int64(run.now.Load().groups.Estimate), Partitions: run.partitions, Partitioned: run.now.Load().groups.Partitioned,
		Phases: []PhaseStats{
			{PhaseScan, run.scanTime.Seconds()},
			{PhaseOutput, (total - run.scanTime).Seconds()},
		},
		PeakMemory: run.budget.Peak(), SpilledBytes: run.disk.Written(),
		Devices: []DeviceStats{},
	}
	for i, f := range run.now.Load().groups.Distinct {
		s.Distinct = append(s.Distinct, Distinct{run.query.ArgTexts[run.sets[i].arg], f.Groups, f.Partitions, f.Partitioned})
	}
	run.tellDevices(&s)
	return s
}
