package gagg

import (
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/spill"
)

// tuning is what tests change of one run: sizes that small inputs would never reach, and what a run stands on.
type tuning struct {
	spillFS    spill.FS // of spill files; nil: the system's
	partLeast  int64    // the size of a part of a row group at least, in bytes
	passLeast  int      // cpu.Config.PassLeast
	bucketGain float64  // gpu.Config.Gain
	keptRows   int64    // gpu.Config.Keep
	needs      workerNeeds
	shared     int64 // see leastShared
	costs      deviceCosts
	tile       feedback.TileConfig
	offload    func(*gpu.Devices) cpu.Offload // how devices are given to the workers
}

// defaultTuning is that of all other runs.
func defaultTuning() tuning {
	return tuning{
		partLeast: parquetio.DefaultLeastPart, passLeast: cpu.DefaultPassLeast, bucketGain: feedback.DefaultBucketGain,
		keptRows: mostEarly, // as much as rows take that are packed while devices open, and are gone when rows leave these
		needs:    defaultNeeds, shared: leastShared, costs: defaultDeviceCosts, tile: feedback.DefaultTileConfig,
		offload: func(d *gpu.Devices) cpu.Offload { return d },
	}
}

// tuning is the tuning of a run.
func (o *Options) tuning() tuning {
	if o.tuned != nil {
		return *o.tuned
	}
	return defaultTuning()
}
