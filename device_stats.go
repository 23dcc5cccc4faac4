package gagg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/exec"
)

// DeviceStats is what a run did on one device. Times are sums, and those of
// copies and kernels overlap.
type DeviceStats struct {
	Number int    `json:"number"` // as for Options.Device
	Name   string `json:"name"`
	// Start: seconds from when devices were first wanted until all were ready
	Start      float64 `json:"start_s"`
	Memory     int64   `json:"memory"`      // bytes of it that the run could take
	PeakMemory int64   `json:"peak_memory"` // bytes of it that the run held at most

	// While the input is read, tiles of rows are combined into a table (firstpass.Pass).
	Tiles int64 `json:"tiles"`
	Rows  int64 `json:"rows"` // in tiles
	// InCore: all groups stayed on devices: on the first one, of several
	InCore bool  `json:"in_core"`
	Groups int64 `json:"groups"` // in the table at the end of that
	// Selected: groups that left it, since few are wanted; 0: all did, or did not have to
	Selected int64 `json:"selected"`
	// Regrouped: groups by the keys that those in the table, by the keys and a distinct value,
	// became there; 0: the CPU grouped them, or there is no such value
	Regrouped  int64 `json:"regrouped"`
	TableSlots int64 `json:"table_slots"` // of it
	Grown      int64 `json:"grown"`       // how often it was made larger
	// A row whose group a full table does not have is kept in pages.
	RestRows  int64 `json:"rest_rows"`
	Evictions int64 `json:"evictions"` // how often pages had run out
	// EvictedRows: that went to the host for want of memory, those of the table too
	EvictedRows  int64 `json:"evicted_rows"`
	EvictedBytes int64 `json:"evicted_bytes"`
	KeptRows     int64 `json:"kept_rows"` // of them: that stayed in the pinned memory they left to
	// Rows that lie on the host at last come back bucket by bucket (secondpass.Pass).
	Buckets    int64 `json:"buckets"`
	BucketRows int64 `json:"bucket_rows"`
	// DirectRows: of them: straight from the pinned memory in which they had stayed
	DirectRows int64 `json:"direct_rows"`
	// FullBuckets: of which the CPU took a part, since the table was full
	FullBuckets int64 `json:"full_buckets"`

	Streams []StreamStats `json:"streams"`
}

// StreamStats is what one stream of a device did. Copies and kernels are timed by
// the device, and waits for those of other streams are in their times.
type StreamStats struct {
	Jobs     int     `json:"jobs"`
	BytesIn  int64   `json:"bytes_in"`
	BytesOut int64   `json:"bytes_out"`
	CopyIn   float64 `json:"copy_in_s"`
	Kernels  float64 `json:"kernel_s"`
	CopyOut  float64 `json:"copy_out_s"`
	Deliver  float64 `json:"deliver_s"` // handing over what the device put out
	Idle     float64 `json:"idle_s"`    // without a job
}

// newDeviceStats is what both passes of an attempt have done on a device.
func newDeviceStats(d exec.DeviceStats) DeviceStats {
	m := d.First
	s := DeviceStats{
		Number: d.Number, Name: d.Name, Start: d.Start.Seconds(), Memory: d.Memory, PeakMemory: d.Peak,
		Rows: int64(m.Rows), InCore: m.InCore, Groups: int64(m.Groups), Selected: d.Selected, Regrouped: d.Regrouped, TableSlots: int64(m.Slots), Grown: int64(m.Growths),
		RestRows: int64(m.RestRows), Evictions: int64(m.Evictions), EvictedRows: int64(m.WrittenRows + m.RetainedRows), EvictedBytes: int64(m.WrittenBytes + m.RetainedBytes),
		KeptRows: int64(m.RetainedRows), Streams: make([]StreamStats, len(m.Streams.Streams)),
	}
	for i, l := range m.Streams.Streams {
		s.Streams[i] = StreamStats{
			Jobs: l.Jobs, BytesIn: l.BytesIn, BytesOut: l.BytesOut,
			CopyIn: l.CopyIn.Seconds(), Kernels: l.Kernels.Seconds(), CopyOut: l.CopyOut.Seconds(),
			Deliver: l.Deliver.Seconds(), Idle: l.Idle.Seconds(),
		}
		s.Tiles += int64(l.Jobs)
	}
	for _, b := range d.Second {
		s.merge(DeviceStats{Buckets: int64(b.Buckets), BucketRows: b.Rows, DirectRows: b.Pinned, FullBuckets: int64(b.Full)})
	}
	return s
}

// EncodedStats is what crossed to devices as it lies in the files. The rows are not in those of
// DeviceStats' tiles before they are made.
type EncodedStats struct {
	Parcels   int64 `json:"parcels"` // jobs, of one or more row groups
	RowGroups int64 `json:"row_groups"`
	Rows      int64 `json:"rows"`
	Bytes     int64 `json:"bytes"` // that crossed, dictionaries and descriptors included
	// Declined: row groups that a device could not decode, and workers read: see Fallbacks
	Declined int64 `json:"declined"`
	// Texts: texts of more than 15 bytes in keys, and those of aggregates, that devices had, each
	// once; TextBytes: of them
	Texts     int64 `json:"texts"`
	TextBytes int64 `json:"text_bytes"`
}

// Fallback is something that the CPU did in place of a device, and why.
type Fallback struct {
	What  string `json:"what"`
	Why   string `json:"why"`
	Count int64  `json:"count"`
}

// addDevice adds what was done on a device to a list by number. What several parts
// of a run did on the same one is added up.
func addDevice(list []DeviceStats, s DeviceStats) []DeviceStats {
	i, found := slices.BinarySearchFunc(list, s.Number, func(s DeviceStats, n int) int { return s.Number - n })
	if !found {
		return slices.Insert(list, i, s)
	}
	list[i].merge(s)
	return list
}

// merge adds what another part of the run did on the device.
func (s *DeviceStats) merge(o DeviceStats) {
	s.Start = max(s.Start, o.Start)
	s.Memory, s.PeakMemory = max(s.Memory, o.Memory), max(s.PeakMemory, o.PeakMemory)
	s.InCore = s.InCore || o.InCore
	for _, sum := range []struct {
		to   *int64
		more int64
	}{
		{&s.Tiles, o.Tiles},
		{&s.Rows, o.Rows},
		{&s.Groups, o.Groups},
		{&s.Selected, o.Selected},
		{&s.Regrouped, o.Regrouped},
		{&s.TableSlots, o.TableSlots},
		{&s.Grown, o.Grown},
		{&s.RestRows, o.RestRows},
		{&s.Evictions, o.Evictions},
		{&s.EvictedRows, o.EvictedRows},
		{&s.EvictedBytes, o.EvictedBytes},
		{&s.KeptRows, o.KeptRows},
		{&s.Buckets, o.Buckets},
		{&s.BucketRows, o.BucketRows},
		{&s.DirectRows, o.DirectRows},
		{&s.FullBuckets, o.FullBuckets},
	} {
		*sum.to += sum.more
	}
	s.Streams = append(s.Streams, o.Streams...)
}
