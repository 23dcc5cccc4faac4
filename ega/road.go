package ega

import "github.com/gagg-dev/gagg/internal/cuda"

// Road is a way to aggregate rows on the device.
type Road int

const (
	RoadShared  Road = iota // Table.AddShared
	RoadTable               // Table.AddShared too, whose tables in shared memory keep frequent keys off the Table
	RoadBuckets             // a scatter by hash, then Buckets
	RoadSingle              // SinglePass
)

// String is the name of a road.
func (r Road) String() string { return [...]string{"shared", "table", "buckets", "single"}[r] }

// Facts is what the choice of a road depends on.
type Facts struct {
	Rows   uint64 // to aggregate
	Groups uint64 // an estimate of how many they have
	Spare  uint64 // rows that device memory has room for beside them
}

// tableLoad is how full a Table is planned to be: the probe gets long above. A guess.
const tableLoad = 0.5

// Choose chooses the road: a pure function of counts and of facts of the device.
// A wrong estimate costs time, nothing else.
//
// The order is that of the bytes moved, and a guess until bench/ega has measured it:
// shared reads the rows once; buckets read them three times and write them once, or twice
// that, in order; the others go to a place at random for each row.
func Choose(l *Layout, d cuda.Device, f Facts) Road {
	groups := min(f.Groups, f.Rows)
	table := uint64(float64(groups) / tableLoad)
	switch {
	case groups <= sharedMost(l, d) && table <= f.Spare:
		return RoadShared
	case 2*f.Rows <= f.Spare: // scattered rows, and the groups
		return RoadBuckets
	case table <= f.Spare && groups <= f.Rows/4: // reading a row once and one random access
		return RoadTable
	}
	return RoadSingle
}
