package exec

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/gpu"
)

// failover is what a run needs to go on without its devices.
type failover struct {
	machine
	current atomic.Pointer[attempt] // whose groups are put out
	// that a device has spoilt; nil: the first attempt went well
	invalidated atomic.Pointer[attempt]

	failing   sync.Mutex // held while the input is read again
	err       error      // of that; guarded by failing
	fallbacks fallbacks
}

// mayFailOver reports whether an error is the failure of a device that the CPU can stand in for:
// none was demanded, and the input can be read again.
func (r *run) mayFailOver(err error) bool {
	var failed *gpu.Error
	return errors.As(err, &failed) && !failed.Late && !r.plan.Device.Facts.Spec.Required() && r.plan.Rereadable
}

// failOver reads the input again and groups it on the CPU alone, in as many partitions as before if
// these have begun to be put out. Of several goroutines that see a device fail the first one does
// it, and the others wait. Once the output has begun, what the failed attempt has made stays until
// the run is closed, since goroutines may still be reading it.
func (r *run) failOver(ctx context.Context, cause error) error {
	r.failing.Lock()
	defer r.failing.Unlock()
	next, first := r.step(deviceLost)
	if !first {
		return r.err
	}
	spoilt := r.current.Load()
	if next == rescanning {
		_ = errors.Join(spoilt.groups.Close(), spoilt.devices.Void()) // it has failed already
	}
	r.fallbacks.add(r.opt.logger(), "the whole input, again", cause.Error())
	r.progress.restart()
	a := r.configure()
	if next == regrouping {
		a.cfg.Partitions = r.partitions
	}
	if err := r.group(ctx, a); err != nil {
		r.step(failed)
		r.err = errors.Join(err, a.close())
		return r.err
	}
	r.invalidated.Store(spoilt)
	r.current.Store(a)
	r.step(grouped)
	return nil
}

// awaitGroups waits while the input is read again. The error is that of reading it.
func (r *run) awaitGroups() error {
	if !r.phase().void() {
		return nil
	}
	r.failing.Lock()
	defer r.failing.Unlock()
	return r.err
}
