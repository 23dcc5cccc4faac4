package firstpass

import (
	"sync/atomic"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/feedback"
)

// strategy decides for all lanes of a Pass how tiles go to its table: through tables in shared
// memory (Table.AddShared), or row by row (Table.Add) if shared memory would keep hardly any row
// off the table.
//
//	few groups    all rows meet in shared memory: no question
//	shared        at first. The kernel counts what blocks send on (EgaRest.sent), which its lane
//	              reads when the tile is done
//	apart         while that is nearly all rows (feedback.PreaggregateConfig). Some tiles are samples,
//	              which are counted and may end it
//
// A decision does not apply to tiles of other lanes that are under way. That costs time, nothing
// else.
type strategy struct {
	crowded atomic.Uint64 // tiles with more groups than a block's table is good for
	apart   atomic.Bool
	direct  atomic.Uint64 // tiles that went row by row
}

// preaggregates says whether the rows of the next tile go through tables in shared memory.
func (r *strategy) preaggregates(p ega.SharedPlan) bool {
	if !p.Crowded {
		return true
	}
	if n := r.crowded.Add(1); !r.apart.Load() || feedback.DefaultPreaggregateConfig.Samples(n) {
		return true
	}
	r.direct.Add(1)
	return false
}

// noteSent notes how many of a tile's rows, or of their groups, blocks have sent on to the table.
// 0: nothing was counted.
func (r *strategy) noteSent(rows, sent uint64) {
	if sent > 0 {
		r.apart.Store(feedback.DefaultPreaggregateConfig.DecidePreaggregate(rows, sent) == feedback.SendRows)
	}
}
