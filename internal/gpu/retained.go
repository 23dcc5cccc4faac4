package gpu

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/merge"
)

// retained is the rows that stayed in pinned memory when they left a device, of all devices, while
// partitions are merged (cpu.EvictedSpan).
//
// How many input rows they stand for is not counted when they leave, since that would mean to read
// them: it is the input rows that were sent, less those that partition writers have. Whether as
// many come back (DEVICE-WHOLE) is known only with the last of them, when groups may have been put
// out already: an Error then is Late.
type retained struct {
	devices *Devices
	list    []retainedOf
	want    int64        // input rows
	got     atomic.Int64 // of them
	left    atomic.Int64 // rows that have not come back yet
}

// retainedOf is those of one device.
type retainedOf struct {
	*evict.Rows
	context *cuda.Context
}

// retainPays reports whether rows that leave the device now are retained: devices will aggregate
// them, as far as can be foreseen.
func (p *pass) retainPays(f feedback.GainCounts) bool {
	c := &p.devices.config
	if plan := c.Run.Plan(); plan != nil && !p.devices.chainsFit(plan.Bits, evict.MaxChainBits) {
		return false
	}
	left := f.Rows // as many again, if it is not known
	if c.Rows >= 0 {
		each := uint64(c.Rows) / uint64(len(p.devices.contexts))
		left = each - min(each, f.Rows)
	}
	return !c.Run.Long() && !c.States.HasTexts() && f.Expected(left) >= p.devices.config.Gain
}

// chainsFit reports whether 2^chains chains may be merged whole in place of 2^partitions
// partitions: a merger is sure to have memory for a partition's groups alone, and there have to be
// some for each of them.
func (d *Devices) chainsFit(partitions, chains uint) bool {
	c := &d.config
	return partitions <= chains || c.Host.Merge == 0 && c.Threads <= 1<<chains
}

// hold takes over the rows that a pass has retained. They are closed in every case.
func (k *retained) hold(p *pass, of *evict.Rows) {
	k.devices = p.devices
	if of != nil {
		k.list = append(k.list, retainedOf{of, p.context})
		k.left.Add(int64(of.Len()))
	}
}

// stays reports whether all that is retained stays so until 2^n partitions are merged: devices
// aggregate these.
func (d *Devices) stays(n uint) bool {
	for _, of := range d.retained.list {
		if !d.second || !d.chainsFit(n, of.Bits()) {
			return false
		}
	}
	return true
}

// writeRetained gives all that a pass has retained to its writers.
func (d *Devices) writeRetained(p *pass) error {
	for i, of := range d.retained.list {
		if of.context != p.context {
			continue
		}
		d.retained.left.Add(-int64(of.Len()))
		err := of.Drain(len(p.writers), p.write)
		err = errors.Join(err, d.closing(p.context, of.Close()))
		d.retained.list = slices.Delete(d.retained.list, i, i+1)
		return failed(p.context, err)
	}
	return nil
}

// expect says how many input rows the retained rows stand for.
func (k *retained) expect(want int64) error {
	if k.want = want; want < k.left.Load() {
		return fmt.Errorf("%w: %d rows are said to stand for %d", ErrRows, k.left.Load(), want)
	}
	return nil
}

// back counts rows that have come back, and the input rows that they stand for.
func (k *retained) back(rows, stand int64) error {
	if rows == 0 {
		return nil
	}
	err := error(nil)
	got := k.got.Add(stand)
	switch left := k.left.Add(-rows); {
	case stand < rows:
		err = fmt.Errorf("%w: %d rows are said to stand for %d", ErrRows, rows, stand)
	case left == 0 && got != k.want:
		err = fmt.Errorf("%w: %d of %d", ErrRows, got, k.want)
	}
	if err != nil {
		return &Error{Device: k.list[0].context.Device().Ordinal, Cause: err, Late: true}
	}
	return nil
}

// EvictedRows adds the rows that devices have retained to the sizes of partitions, and says how
// many partitions have to be merged as one, or a multiple of them, since such rows are not told
// apart any further.
func (o *outcome) EvictedRows(sizes []int64) (together int) {
	partitions := uint(bits.TrailingZeros(uint(len(sizes))))
	together = 1
	for _, k := range o.retained.list {
		common := min(partitions, k.Bits())
		each := 1 << (partitions - common)
		for i, n := range k.Sizes(common) {
			sizes[i*each] += int64(n)
		}
		together = max(together, each)
	}
	return together
}

// handOut hands out the rows of partitions, of which there are 2^n, to the merger of a pass; nil:
// it has none. Each is handed out once.
func (k *retained) handOut(p merge.Range, n uint, pass *secondPass) (rows []cpu.EvictedSpan) {
	skip := uint(bits.TrailingZeros(uint(p.N)))
	for _, of := range k.list {
		if invariant.Enabled {
			invariant.Check(n-skip <= of.Bits(), "retained rows are not told apart by so many bits")
		}
		for _, s := range of.Spans(uint64(p.First)>>skip, n-skip) {
			rows = append(rows, &retainedSpan{span: s, of: k, pass: pass, context: of.context})
		}
	}
	return rows
}

// retainedSpan is some of them, for one merger (cpu.EvictedSpan).
type retainedSpan struct {
	span    evict.Span
	of      *retained
	pass    *secondPass   // of the merger; nil: it has none, and loads nothing
	context *cuda.Context // whose memory it is
}

func (r *retainedSpan) Rows() []uint64 { return r.span.Rows() }

func (r *retainedSpan) Load() (int, error) { return r.pass.addRetained(&r.span) }

// Rest counts the rows that the CPU combines.
func (r *retainedSpan) Rest(from int) ([]uint64, error) {
	c := &r.of.devices.config
	stride := c.Layout.Stride()
	rows := r.span.Rows()[from*stride:]
	return rows, r.of.back(int64(len(rows)/stride), c.Run.StandFor(rows))
}

func (r *retainedSpan) Release() error { return r.of.devices.closing(r.context, r.span.Done()) }

// close frees the rows that are left.
func (k *retained) close() error {
	var errs []error
	for _, of := range k.list {
		errs = append(errs, k.devices.closing(of.context, of.Close()))
	}
	k.list = nil
	return errors.Join(errs...)
}
