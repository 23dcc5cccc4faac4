package plan

import (
	"fmt"
	"math"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/query"
)

// This file says which rows devices get, and which queries they can do.

// decoding is how devices make the rows themselves. If they do not, why says what keeps them from
// it, for people.
func (p *planner) decoding(states *agg.Layout) (_ gpu.Decoding, why string) {
	if p.Options.NoGPUDecoding {
		return gpu.Decoding{}, "as asked for"
	}
	plan, why := p.encodedPlan(states)
	if why != "" {
		return gpu.Decoding{}, why
	}
	units := p.encodedUnits()
	if units.All.Rows == 0 {
		return gpu.Decoding{}, "no row group is stored as devices decode it"
	}
	d := gpu.PlanDecoding(plan, units, p.Options.GPUMemory, p.Options.Streams)
	if d.Plan == nil {
		return d, "a GPU has no room for row groups of this size"
	}
	return d, ""
}

// encodedUnits is the sizes of the units that devices decode, as far as footers tell.
func (p *planner) encodedUnits() (u gpu.Units) {
	for i := range p.scan.Units() {
		s, ok := p.scan.EncodedUnit(i)
		if !ok {
			continue
		}
		u.All.Rows, u.All.Bytes, u.All.Expanded = u.All.Rows+s.Rows, u.All.Bytes+s.Bytes, u.All.Expanded+s.Expanded
		u.Unpacked += s.Unpacked
		u.Largest.Rows, u.Largest.Bytes = max(u.Largest.Rows, s.Rows), max(u.Largest.Bytes, s.Bytes)
		u.Largest.Expanded = max(u.Largest.Expanded, s.Expanded)
	}
	return u
}

// deviceRow is the bytes of a row on its way to a device.
func (p *Plan) deviceRow(states *agg.Layout) int64 {
	return 8 * int64(1+p.DeviceKeys().Words+states.Words())
}

// oneGroup reports whether devices have no keys to group by. They then take what they make the rows
// of themselves: of other rows each worker has a group of its own, at no cost.
func (p *Plan) oneGroup() bool { return len(p.Query.Keys) == 0 && !p.Regroups() }

// unsupported is why no device can do the query; "": one can.
func (p *Plan) unsupported(states *agg.Layout) string {
	switch words := p.DeviceKeys().Words; {
	case p.Query.Mode != query.Whole:
		return "states are made and merged by the CPU"
	case p.oneGroup() && len(p.Columns) == 0:
		return "no column is read"
	case p.oneGroup() && len(states.DeviceLists()) > 0:
		return "there are no keys, and all values make one list"
	case p.oneGroup() && extremes(p.Query) != nil:
		return "footers tell most of the least and greatest values"
	case words > ega.MaxKeyWords:
		return fmt.Sprintf("all keys together take %d words, and a GPU compares at most %d", words, ega.MaxKeyWords)
	}
	if p.Query.Texts.Sample.OfRows() {
		return "a sample is taken of the rows"
	}
	if len(p.Query.Groupings) > 0 {
		return "there are several grouping sets"
	}
	if d := p.Query.Distinct; len(d) > 1 {
		return fmt.Sprintf("each different %s counts once, and each different %s", p.Query.ArgTexts[d[0]], p.Query.ArgTexts[d[1]])
	}
	if len(p.Query.Distinct) > 0 && len(states.DeviceLists()) > 0 { // keys are not divided then
		return "all values of a group are needed, and each different " + p.Query.ArgTexts[p.Query.Distinct[0]] + " counts once"
	}
	_, _, why := states.DeviceOps()
	if why == "" && p.ListsBytes(states) > p.listsMost() {
		return "all values of a group are needed, and those of all groups may take more than a part of the memory limit"
	}
	return why
}

// laterRuns stands for the place of long chains, which a plan does not have yet.
type laterRuns struct{ agg.Runs }

// DeviceStates is the states that groups have on a device, for plans.
func (p *Plan) DeviceStates() *agg.Layout {
	var runs agg.Runs
	if p.Memory.Spill {
		runs = laterRuns{}
	}
	return p.StatesOf(p.DeviceKeys(), runs, true, nil)
}

const (
	// listedBytes is what a value of a list takes on the host, with its part of what a group has
	// beside: its 8 bytes, and as many for blobs that are up to half empty and for the group.
	listedBytes = 16

	// listsPart: where memory is limited, the lists of devices have one of so many parts of what
	// workers may take. They come back as a whole: from there on they may go to disk. It
	// is as much as is merged at a time (mergeShare).
	listsPart = 4
)

// ListsBytes is the most memory of the host that lists of a device take, when they have come back.
func (p *Plan) ListsBytes(states *agg.Layout) int64 {
	switch lists := int64(len(states.DeviceLists())); {
	case lists == 0 || !p.Memory.Spill:
		return 0
	case p.Facts.Rows < 0 || p.Facts.Rows > math.MaxInt64/(lists*listedBytes):
		return math.MaxInt64
	default:
		return lists * listedBytes * p.Facts.Rows
	}
}

// listsMost is how much they may take.
func (p *Plan) listsMost() int64 { return p.Memory.Worker * int64(p.Threads) / listsPart }
