package exec

import (
	"context"
	"time"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/remote"
	"github.com/gagg-dev/gagg/internal/spill"
)

// temp is the temp folder of all attempts of a run: the content of pipes stays there when the input
// is read again, and one limit is that of all attempts.
type temp struct {
	disk    *budget.Budget
	spooled *input.Temp
	remote  *remote.Client
	unwatch func() bool
	isLent  bool // another run closes it
}

// lent is t for a run within the run.
func (t *temp) lent() *temp {
	l := *t
	l.isLent = true
	return &l
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
	t.spooled = input.NewTemp(space)
	t.remote = remote.New(remote.Config{Transport: o.Transport, Ahead: aheadOf(o.MemoryLimit), Stores: o.Stores})
	t.unwatch = context.AfterFunc(ctx, func() { time.AfterFunc(diskGrace, func() { _ = t.spooled.Close() }) })
	return t
}

// close removes the content of pipes, and ends connections.
func (t *temp) close() error {
	if t.isLent {
		return nil
	}
	t.unwatch()
	t.remote.Close()
	return t.spooled.Close()
}

// aheadOf is how many bytes may be fetched from servers before they are read, where memory is
// limited: an eighth of it. 0: the default.
func aheadOf(limit int64) int64 {
	const usual = 64 << 20
	if limit <= 0 || limit/8 > usual {
		return 0
	}
	return limit / 8
}

// input is how a source is opened.
func (o *Options) input(t *temp) input.Options {
	return input.Options{UnionByName: o.UnionByName, BatchRows: o.BatchRows, AsOf: o.AsOf, Temp: t.spooled, Remote: t.remote}
}
