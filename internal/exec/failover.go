package exec

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/gpu"
)

// failover is the phase of a run, and the state to go on without its devices.
type failover struct {
	machine
	current atomic.Pointer[attempt] // whose groups are put out
	// invalidated: whose device failed while its groups were put out; nil: none
	invalidated atomic.Pointer[attempt]

	failing   sync.Mutex // held while the input is read again
	err       error      // of reading it again; guarded by failing
	fallbacks fallbacks
}

// mayFailOver reports whether an error is the failure of a device that the CPU can stand in for:
// none was demanded, and the input can be read again.
func (r *run) mayFailOver(err error) bool {
	var failed *gpu.Error
	return errors.As(err, &failed) && !failed.Late && !r.plan.Device.Facts.Spec.Required() && r.plan.Rereadable
}

// failOver reads the input again and groups it on the CPU alone. If several goroutines see a device
// fail, the first one does this, and the others wait. After the output has begun, the groups are
// made in the same partitions, so that they come in the same order; and the failed attempt is
// closed with the run, not here, since other goroutines may still be reading it.
func (r *run) failOver(ctx context.Context, cause error) error {
	r.failing.Lock()
	defer r.failing.Unlock()
	next, stepped := r.step(deviceLost)
	if !stepped { // another goroutine has been here
		return r.err
	}
	before := r.current.Load()
	if next == rescanning {
		_ = errors.Join(before.groups.Close(), before.devices.Void()) // it has failed already
	}
	r.fallbacks.add(r.opt.logger(), "the whole input, again", cause.Error())
	r.progress.restart()
	partitions := r.opt.Partitions
	if next == regrouping {
		partitions = r.partitions
	}
	a := r.configure(partitions, false)
	if err := r.group(ctx, a); err != nil {
		r.step(failed)
		r.err = errors.Join(err, a.close())
		return r.err
	}
	r.invalidated.Store(before)
	r.current.Store(a)
	r.step(grouped)
	return nil
}

// awaitGroups waits while another goroutine reads the input again. The error is that of reading it.
func (r *run) awaitGroups() error {
	if !r.phase().void() {
		return nil
	}
	r.failing.Lock()
	defer r.failing.Unlock()
	return r.err
}
