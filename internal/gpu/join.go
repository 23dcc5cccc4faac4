package gpu

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cpu"
)

// This file is how the groups of several devices come to one of them: when the others have ended their first passes, their
// groups cross to the host and on to the first device as rows, whose pass has not ended. They are far fewer than the input's rows where
// devices gain anything, and what stays on a device is read from there, piece by piece (resident), instead of being merged.

// joinAll ends the passes of all devices but the first. joined: what they had is with the first one now. Else placers have all of it
// that was not moved.
func (d *Devices) joinAll(bits uint, stays bool) (joined bool, err error) {
	others := d.passes[1:]
	moved, errs := make([]bool, len(others)), make([]error, len(others))
	var all sync.WaitGroup
	for i, p := range others {
		all.Go(func() { moved[i], errs[i] = p.join(d.passes[0], bits, stays) })
	}
	all.Wait()
	joined = true
	for _, m := range moved {
		joined = joined && m
	}
	return joined, cmp.Or(errs...)
}

// join ends the pass. Its groups go to another device that has room for them, if stays says so and nobody has a part of them, else to its
// placers.
func (p *pass) join(to *pass, bits uint, stays bool) (moved bool, err error) {
	defer cpu.Recovered(&err)
	groups, err := p.Finish(bits)
	p.pinned.lift()
	if err == nil && groups != nil {
		if moved, err = p.moves(to, groups, stays); moved {
			err = p.move(groups, to, 1<<bits)
		} else if err == nil {
			err = p.evict(groups, 1<<bits)
		}
		err = errors.Join(err, groups.Close())
	}
	if err == nil {
		p.first = p.Stats()
	}
	return moved && err == nil, failed(p.context, err)
}

// moves reports whether groups go to another device. Those with lists do not: their values are no part of their rows.
func (p *pass) moves(to *pass, groups *ega.Groups, stays bool) (bool, error) {
	switch {
	case !stays || p.placed() > 0:
		return false, nil
	case groups.Len() == 0:
		return true, nil
	case len(p.devices.config.Lists) > 0:
		return false, nil
	}
	room, err := to.HasRoom(groups.Len())
	if err != nil {
		return false, &placeError{failed(to.context, err)}
	}
	return room, nil
}

// move submits groups to another device.
func (p *pass) move(groups *ega.Groups, to *pass, partitions int) error {
	return readAll(groups, len(p.placers), partitions, func(int, *ega.GroupReader) func(rows []uint64) error { return to.takeRows })
}

// takeRows copies rows of another device to slots.
func (p *pass) takeRows(rows []uint64) error {
	for len(rows) > 0 {
		t, err := p.takeSlot()
		if err == nil {
			n := copy(t.Words(), rows)
			rows = rows[n:]
			p.joined.Add(uint64(n / t.stride))
			err = t.Submit(n / t.stride)
		}
		if err != nil {
			return &placeError{err} // not of the device that is read
		}
	}
	return nil
}

// readAll hands out the groups of all partitions, by as many readers as are given, or as there is memory for. Each has an emit of its own.
func readAll(g *ega.Groups, readers, partitions int, emit func(number int, r *ega.GroupReader) func(rows []uint64) error) error {
	var next, done atomic.Int64
	errs := make([]error, readers)
	var all sync.WaitGroup
	for i := range readers {
		all.Go(func() {
			errs[i] = withReader(g, func(r *ega.GroupReader) error { return readSome(r, int64(partitions), &next, &done, emit(i, r)) })
		})
	}
	all.Wait()
	if done.Load() == int64(partitions) {
		return nil
	}
	return errors.Join(errs...)
}

// withReader lets do use a reader, which is closed then, also after a panic.
func withReader(g *ega.Groups, do func(r *ega.GroupReader) error) (err error) {
	defer cpu.Recovered(&err)
	r, err := g.Reader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return do(r)
}

// readSome hands out the groups of partitions, of which next is the next that nobody reads, until there are no more.
func readSome(r *ega.GroupReader, partitions int64, next, done *atomic.Int64, emit func(rows []uint64) error) error {
	for n := next.Add(1) - 1; n < partitions; n = next.Add(1) - 1 {
		if err := r.Read(int(n), emit); err != nil {
			return err
		}
		done.Add(1)
	}
	return nil
}
