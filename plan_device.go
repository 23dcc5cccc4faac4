package gagg

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg/internal/exec"
)

// DevicePlan is how devices are used.
type DevicePlan struct {
	Numbers []int `json:"numbers"`
	// Memory: bytes of each that may be taken; 0: nine tenths of what is free when the run begins
	Memory   int64 `json:"memory"`
	Streams  int   `json:"streams"`   // of each
	RowBytes int64 `json:"row_bytes"` // that cross the link for each row: hash, key, states
	// LoadFull: of a table that a partition is loaded into: it counts as full,
	LoadFull float64 `json:"load_full"`
	LoadMost float64 `json:"load_most"` // and the most it gets
	Groups   int64   `json:"groups"`    // about how many; -1: as many as rows
	// Encoded: column chunks cross as they are in the file, and the rows are made there, as far as
	// pages allow it
	Encoded bool   `json:"encoded"`
	RowsBy  string `json:"rows_by"` // why workers make all rows; "": they need not
	// Selects: of the groups of a query with an order and a limit, or having, those that are not
	// wanted stay there, where one device has all groups
	Selects bool   `json:"selects"`
	Wanted  string `json:"wanted"` // which are wanted, or why all leave; "": all are
	// Regroups: what is grouped twice, and by what, for aggregates of distinct values; "": nothing
	Regroups string `json:"regroups"`
}

// Prediction is how long a run would take, reading included, without what waits
// for a disk.
type Prediction struct {
	CPU    float64 `json:"cpu_s"`
	Device float64 `json:"gpu_s"`
}

// String is the plan for people.
func (d *DevicePlan) String() string {
	memory := "nine tenths of the free memory"
	if d.Memory > 0 {
		memory = "at most " + humanize.IBytes(uint64(d.Memory)) + " of memory"
	}
	rows := "column chunks are decoded there"
	if !d.Encoded {
		rows = fmt.Sprintf("rows are made by the CPU, of %d bytes: %s", d.RowBytes, d.RowsBy)
	}
	groups := ""
	if d.Regroups != "" {
		groups = "; " + d.Regroups
	}
	switch {
	case d.Selects:
		groups += "; if one has all groups, few leave it: " + d.Wanted
	case d.Wanted != "":
		groups += "; all groups leave it: " + d.Wanted
	}
	return fmt.Sprintf("%s, %d streams; %s%s; a bucket's table is full above load %g and has %g at most",
		memory, d.Streams, rows, groups, d.LoadFull, d.LoadMost)
}

// newDevicePlan tells of the devices that are used.
func newDevicePlan(e *exec.Explained) *DevicePlan {
	if len(e.Numbers) == 0 {
		return nil
	}
	o, decision := &e.Options, &e.Device
	d := &DevicePlan{
		Numbers: e.Numbers, Memory: o.GPUMemory, Streams: e.Streams(), RowBytes: decision.Facts.RowSize,
		LoadFull: o.Load.Full, LoadMost: o.Load.Max, Groups: -1, Encoded: decision.RowsBy == "", RowsBy: decision.RowsBy,
		Selects: decision.Select != nil, Wanted: decision.Wanted, Regroups: decision.Regroups,
	}
	if e.Groups < math.MaxInt64 {
		d.Groups = int64(e.Groups)
	}
	return d
}
