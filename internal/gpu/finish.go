package gpu

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// outcome is where the groups of a run are once its input is at the end.
type outcome struct {
	groups   *groups.Groups // on the device; nil: there are none
	context  *cuda.Context  // of groups
	second   bool           // they are in buckets, which devices aggregate
	rows     tally
	retained retained
	merger   atomic.Int64 // how many there are
	mergers  int          // how many there will be, at most
	largest  int64        // the most rows of a range of partitions
	selected bool         // groups that are not wanted have been left on the device

	regrouped bool // groups are those of Regroup.Run
}

// tally counts the input rows that rows coming back stand for.
type tally struct {
	want int64
	got  atomic.Int64
	left atomic.Int64 // partitions not read yet
}

// check reports rows that are missing, or too many.
func (t *tally) check() error {
	if got := t.got.Load(); got != t.want {
		return fmt.Errorf("%w: %d of %d", ErrRows, got, t.want)
	}
	return nil
}

// Finish ends the first pass: after it the rows of each group are in one place. mergers is how many
// goroutines will call Attach at most.
func (d *Devices) Finish(g *cpu.Groups, mergers int) error {
	// mergers draw the memory that writers' arenas have not drawn
	defer d.config.ListsMemory.Close()
	if g.Sent == 0 {
		return nil
	}
	d.mergers, d.rows.want = mergers, g.Sent
	bits := g.Buckets[0].Bits()
	stays := g.Resident() == 0
	if len(d.passes) > 1 {
		joined, err := d.joinAll(bits, stays)
		if err != nil {
			return err
		}
		stays = stays && joined
	}
	first := d.passes[0]
	left, err := first.finish(g, stays)
	switch {
	case err != nil:
		return err
	case left == nil:
		return d.toBuckets(g)
	}
	d.groups, d.context = left, first.context
	d.rows.left.Store(1 << left.Bits())
	for _, p := range d.passes {
		p.closeEarly()
		err = errors.Join(err, p.closeWriters()) // which have no rows, and reserved memory
	}
	return err
}

// finish ends the pass. If stays is set and all parts of its groups are on the device, they stay
// there; or, if few groups are wanted, these go to writers. Else all groups go to writers. of is
// the groups of the run, which become those of another if all were regrouped.
func (p *pass) finish(of *cpu.Groups, stays bool) (g *groups.Groups, err error) {
	defer invariant.Recovered(&err)
	bits := of.Buckets[0].Bits()
	g, err = p.Finish(bits)
	p.pinned.Close()
	if err == nil {
		err = p.countTexts()
	}
	stays = stays && p.written() == 0
	if err == nil && g != nil && stays {
		g, err = p.regroup(g, of)
	}
	if err == nil && g != nil {
		var keeps bool
		if keeps, err = p.keeps(g, 1<<bits, stays); err != nil || !keeps {
			err = errors.Join(err, g.Close())
			g = nil
		}
	}
	if err == nil && !p.devices.selected {
		err = p.copyTexts()
	}
	if err == nil {
		p.first = p.Stats()
		p.first.Rows -= p.joined.Load()
	}
	return g, failed(p.context, err)
}

// keeps reports whether the groups stay on the device, open for readers, if stays says that they
// may.
func (p *pass) keeps(g *groups.Groups, partitions int, stays bool) (bool, error) {
	if !stays {
		if err := p.copyTexts(); err != nil {
			return false, err
		}
		return false, p.evict(g, partitions)
	}
	if what := p.devices.config.Select; what != nil {
		if selected, err := p.leave(g, what); selected || err != nil {
			return false, err
		}
	}
	if p.devices.fewLeave(g) {
		if left, err := p.leave(g, &groups.Selection{All: true}); left || err != nil {
			return false, err
		}
	}
	return true, g.Open()
}

// fewLeave reports whether all groups should leave the device at once: to divide them and to pin
// memory for readers takes longer than to merge so few on the host.
func (d *Devices) fewLeave(g *groups.Groups) bool {
	return d.rows.want >= d.config.FewFrom && g.Len() <= fewGroups && len(d.config.Lists) == 0
}

// fewGroups leave in .5 ms and are merged in 7 ms of one core, half a percent of what the 2^20 rows
// take that there are at least (exec.DefaultTuning). Readers take 11 ms to begin and to end, on an
// H100 beside 16 threads.
const fewGroups = 64 << 10

// leave gives a writer the groups that are wanted, each of which is whole, if they are few; others
// may be among them (SELECT-MORE in package plan). The input rows of the groups that stay are not
// expected back (DEVICE-WHOLE).
func (p *pass) leave(g *groups.Groups, what *groups.Selection) (done bool, err error) {
	d := p.devices
	if done, err := p.regroupWriter(); !done || err != nil {
		return false, err
	}
	if p.texts != nil && !p.texts.copied {
		exact := *what
		exact.Sure = math.MaxUint64 // by a sample some hundred groups more leave, with a text to copy each
		what = &exact
	}
	var selected []uint64
	got, done, err := g.Select(what, func(rows []uint64) error {
		selected = rows
		return nil
	})
	if !done || err != nil {
		return false, err
	}
	if err := p.takeTexts(selected); err != nil {
		return false, err
	}
	if err := p.writeAll(selected); err != nil {
		return false, err
	}
	d.selected, p.selected = true, int64(got.Groups)
	d.rows.want -= int64(got.Left)
	return true, nil
}

// writeAll gives rows to the writers, side by side if there are many.
func (p *pass) writeAll(rows []uint64) error {
	stride := p.devices.config.Layout.Stride()
	all := len(rows) / stride
	n := min(len(p.writers), 1+all/fewGroups)
	errs := make([]error, n)
	var writers sync.WaitGroup
	for i := range n {
		writers.Go(func() { errs[i] = p.write(i, rows[i*all/n*stride:(i+1)*all/n*stride]) })
	}
	writers.Wait()
	return errors.Join(errs...)
}

// closeEarly frees the first pass's memory while its groups are read, above all the pinned memory:
// unpinning takes 10 ms and more.
func (p *pass) closeEarly() {
	c, m := &closing{done: make(chan struct{})}, p.Pass
	go func() {
		defer close(c.done)
		c.err = m.Close()
	}()
	p.closed = c
}

// closing is a first pass that is being closed.
type closing struct {
	done chan struct{}
	err  error // once done is closed
}

// wait waits until it is closed.
func (c *closing) wait() error {
	<-c.done
	return c.err
}

// written is how many rows the writers have.
func (p *pass) written() (n int64) {
	for _, writer := range p.writers {
		n += writer.Rows()
	}
	return n
}

// evict writes all groups of a device in buckets. Each writer has a reader of its own.
func (p *pass) evict(g *groups.Groups, partitions int) error {
	return readAll(g, len(p.writers), partitions, func(writer int, r *groups.Reader, read reading) error {
		lists := p.devices.newLists(r)
		return read(func(rows []uint64) error {
			to := p.writers[writer]
			rows, err := lists.fill(rows, to.Values(), func(bytes int) error {
				p.devices.liftFor(to.Values(), bytes)
				return to.Room(bytes)
			})
			if err != nil || len(rows) == 0 {
				return err
			}
			return p.write(writer, rows)
		})
	})
}

// toBuckets adds the rows of the writers to the groups, and frees the devices for the second
// pass. Retained rows stay for that, or go to the writers.
func (d *Devices) toBuckets(g *cpu.Groups) error {
	d.second = d.gains()
	for _, p := range d.passes {
		d.retained.hold(p, p.EvictedRows())
		if err := errors.Join(p.Pass.Close(), p.texts.close()); err != nil {
			return failed(p.context, err)
		}
		p.Pass = nil
	}
	stays := d.stays(g.Buckets[0].Bits())
	for _, p := range d.passes {
		if !stays {
			if err := d.writeRetained(p); err != nil {
				return err
			}
		}
		for len(p.writers) > 0 {
			writer := p.writers[0]
			p.writers = p.writers[1:] // the groups' to close from now on
			d.rows.got.Add(writer.Stands())
			if err := g.Add(writer); err != nil {
				return err
			}
		}
	}
	if len(d.retained.list) > 0 {
		return failed(d.passes[0].context, d.retained.expect(d.rows.want-d.rows.got.Load()))
	}
	return failed(d.passes[0].context, d.rows.check())
}

// gains reports whether aggregating partitions on devices is worth the way there: where hardly two
// rows make a group, as far as the tables of the first passes tell, the CPU has done it sooner.
// Beside rows with long strings of workers, or with copies of their own, or with lists, they can do
// none; nor where states refer to strings, which the device does not have any more. Of few groups
// that were selected there is nothing to be done.
func (d *Devices) gains() bool {
	if d.selected || d.copied.Load() || d.config.Run.Long() || len(d.config.Lists) > 0 || d.config.States.HasTexts() {
		return false
	}
	rows, groups := uint64(0), uint64(0)
	for _, p := range d.passes {
		// the rest may be of joined rows
		rows, groups = rows+p.first.Rows-min(p.first.Rows, p.first.RestRows), groups+p.first.Groups
	}
	return feedback.BucketGain(rows, groups) >= d.config.Gain
}

// Selected reports whether few groups have left the devices, and others will not.
func (o *outcome) Selected() bool { return o.selected }

// Second reports whether partitions are aggregated on devices while they are merged.
func (o *outcome) Second() bool { return o.second }

func (o *outcome) close() error {
	if o.groups == nil {
		return nil
	}
	g := o.groups
	o.groups = nil
	return g.Close()
}
