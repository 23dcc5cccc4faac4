package gagg

// StatsVersion is the version of Stats as JSON, which docs/stats.md describes. Keys may be added in
// the same version; one that goes, or means something else, is another version.
const StatsVersion = 1

// Stats is what a run did.
type Stats struct {
	Version int    `json:"version"` // StatsVersion
	Device  string `json:"device"`  // that was used: cpu, gpu:0, gpu:0,1
	Threads int    `json:"threads"`
	Rows    int64  `json:"rows"`   // read, before the filter
	Groups  int64  `json:"groups"` // put out
	// BytesRead: compressed bytes of the wanted columns, in row groups of which a row was read
	BytesRead     int64 `json:"bytes_read"`
	RowGroups     int   `json:"row_groups"`     // read
	GroupsSkipped int64 `json:"groups_skipped"` // row groups ruled out by statistics or a sample
	// PagesSkipped: of the others: not decompressed, by statistics or as the filter left no row in
	// them
	PagesSkipped int64 `json:"pages_skipped"`
	// RowsSkipped: that statistics of row groups or pages ruled out, or held no least or greatest
	// value
	RowsSkipped  int64 `json:"rows_skipped"`
	BytesSkipped int64 `json:"bytes_skipped"`
	// FoldersSkipped: not looked into, FilesSkipped: not opened, as the filter rules out what they
	// are named after
	FoldersSkipped int     `json:"folders_skipped"`
	FilesSkipped   int     `json:"files_skipped"`
	RowsPerSecond  float64 `json:"rows_per_second"`
	// GroupEstimate: by a HyperLogLog over the rows that were placed in partitions
	GroupEstimate int64 `json:"group_estimate"`
	Partitions    int   `json:"partitions"`
	// Partitioned: tables were given up for partitions while reading
	Partitioned bool `json:"partitioned"`
	// Distinct: groupings by the keys and a value of which each counts once, or is counted
	Distinct []Distinct   `json:"distinct,omitempty"`
	Phases   []PhaseStats `json:"phases"`
	// Exact: sums of floats that were kept exactly, as they were at the end: wider than in the plan
	// if values asked for it, for which the input was read again
	Exact []ExactSum `json:"exact,omitempty"`
	// PeakMemory: bytes held at most, of what the memory limit counts
	PeakMemory   int64 `json:"peak_memory"`
	SpilledBytes int64 `json:"spilled_bytes"` // written to the temp folder, as stored

	// of input that came by pipes: written there too
	PipedBytes int64 `json:"piped_bytes,omitempty"`

	Remote *RemoteStats `json:"remote,omitempty"` // nil: no input was on a server

	Devices   []DeviceStats `json:"devices"`   // none: the CPU did it all
	Encoded   EncodedStats  `json:"encoded"`   // row groups that devices decoded
	Fallbacks []Fallback    `json:"fallbacks"` // what the CPU did in place of a device
}

// RemoteStats is what was asked of servers.
type RemoteStats struct {
	Requests int64 `json:"requests"`
	Retries  int64 `json:"retries"` // of these: made again
	Bytes    int64 `json:"bytes"`   // of answers
}

// Distinct is a grouping by the keys and a value, for aggregates of distinct values, or of values
// that are counted.
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
	e := r.rows.Stats()
	s := Stats{
		Version: StatsVersion, Device: e.Device, Threads: e.Threads, Rows: e.Rows, Groups: e.Groups,
		BytesRead: e.BytesRead, RowGroups: e.RowGroups,
		GroupsSkipped: e.GroupsSkipped, PagesSkipped: e.PagesSkipped, RowsSkipped: e.RowsSkipped, BytesSkipped: e.BytesSkipped,
		FoldersSkipped: e.FoldersSkipped, FilesSkipped: e.FilesSkipped,
		RowsPerSecond: float64(e.Rows) / (e.Scan + e.Output).Seconds(),
		GroupEstimate: e.GroupEstimate, Partitions: e.Partitions, Partitioned: e.Partitioned,
		Phases:     []PhaseStats{{PhaseScan, e.Scan.Seconds()}, {PhaseOutput, e.Output.Seconds()}},
		PeakMemory: e.PeakMemory, SpilledBytes: e.SpilledBytes, PipedBytes: e.PipedBytes,
		Devices: []DeviceStats{}, Fallbacks: []Fallback{},
	}
	if e.Remote.Requests > 0 {
		s.Remote = &RemoteStats{e.Remote.Requests, e.Remote.Retries, e.Remote.Bytes}
	}
	s.Exact = exactSums(e.Plan.ExactSums())
	for _, d := range e.Distinct {
		s.Distinct = append(s.Distinct, Distinct(d))
	}
	for _, d := range e.Devices {
		s.Devices = addDevice(s.Devices, newDeviceStats(d))
	}
	p := e.Batches
	s.Encoded = EncodedStats{Parcels: p.Batches, RowGroups: p.Units, Rows: p.Rows, Bytes: p.Bytes, Declined: p.DeclinedUnits(), Texts: e.Texts, TextBytes: e.TextBytes}
	for _, f := range e.Fallbacks {
		s.Fallbacks = append(s.Fallbacks, Fallback(f))
	}
	return s
}
