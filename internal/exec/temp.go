package exec

import (
	"context"
	"time"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/spill"
)

// temp is the temp folder as all attempts of a run share it: what came by pipes stays when the
// input is read again, and the limit is that of all.
type temp struct {
	disk    *budget.Budget
	kept    *input.Temp
	unwatch func() bool
}

// openTemp begins a run's use of the temp folder. Nothing is created before it is needed.
func (o *Options) openTemp(ctx context.Context) *temp {
	c := spill.Config{Dir: o.TempDir}
	if o.Tuning != nil {
		c.FS = o.Tuning.SpillFS
	}
	t := &temp{disk: budget.New(budget.Disk, max(o.TempLimit, 0))}
	c.Disk = t.disk
	space, _ := spill.Open(c) // fails for a negative limit alone
	t.kept = input.NewTemp(space)
	t.unwatch = context.AfterFunc(ctx, func() { time.AfterFunc(diskGrace, func() { _ = t.kept.Close() }) })
	return t
}

// close removes what came by pipes.
func (t *temp) close() error {
	t.unwatch()
	return t.kept.Close()
}

// input is how a source is opened.
func (o *Options) input(kept *input.Temp) input.Options {
	return input.Options{UnionByName: o.UnionByName, BatchRows: o.BatchRows, Temp: kept}
}
