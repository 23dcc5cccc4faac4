package gagg

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/spill"
)

// SetSpillFS has all runs of a test spill to fs. The test must not be
// parallel.
func SetSpillFS(t testing.TB, fs spill.FS) {
	t.Helper()
	before := spillFS
	spillFS = fs
	t.Cleanup(func() { spillFS = before })
}

// RunHeld is Run, and tells what the run still holds of its memory limit when
// asked: nothing once its rows are released, or Run has failed.
func RunHeld(ctx context.Context, q Query, o Options) (rows *Rows, held func() int64, err error) {
	p, err := prepare(ctx, q, o)
	if err != nil {
		return nil, func() int64 { return 0 }, classify(err)
	}
	r := &run{prepared: p, limit: q.Limit, started: time.Now()}
	held = r.budget.used.Load
	if err := r.aggregate(ctx); err != nil {
		return nil, held, classify(errors.Join(err, r.close()))
	}
	return newRows(ctx, r), held, nil
}

// SetLeastMemory has the runs of a test begin under limits that leave a worker
// as little as groups bytes for its groups, so that few rows spill. The test
// must not be parallel.
func SetLeastMemory(t testing.TB, groups int64) {
	t.Helper()
	fixed, least := fixedWorker, leastGroups
	fixedWorker, leastGroups = 0, groups
	t.Cleanup(func() { fixedWorker, leastGroups = fixed, least })
}

// SetPassLeast has devices aggregate partitions of so few rows, which would not pay.
// The test must not be parallel.
func SetPassLeast(t testing.TB, rows int) {
	t.Helper()
	before := passLeast
	passLeast = rows
	t.Cleanup(func() { passLeast = before })
}
