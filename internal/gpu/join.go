package gpu

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file is how the groups of several devices come to one of them: when the others have ended
// their first passes, their groups cross to the host and on to the first device as rows, whose pass
// has not ended. They are far fewer than the input's rows where devices gain anything, and what
// stays on a device is read from there, piece by piece (resident), instead of being merged. None of
// them has texts of a device (texts).

const (
	// movers is the most goroutines that bring groups to another device: each pins two buffers
	// first, of which 16 took as long as all else. One core copies at a fifth of a link's rate:
	// five keep it busy, and eight do beside their waits.
	movers = 8

	// joinBits: groups that move to another device are read in at most 2^joinBits partitions, which
	// the movers divide among themselves, sixteen each. A copy takes 6 µs at least: 1 ms for all.
	joinBits = 7
)

// joinAll ends the passes of all devices but the first. If it has joined them, the first device has
// the groups of all. Else partition writers have all groups that were not moved.
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

// join ends the pass. If stays is set and all parts of its groups are on the device, they go to
// another device that has room for them, else to its writers.
func (p *pass) join(to *pass, bits uint, stays bool) (moved bool, err error) {
	defer invariant.Recovered(&err)
	bits = min(bits, joinBits)
	g, err := p.Finish(bits)
	p.pinned.Close()
	if err == nil && g != nil {
		if moved, err = p.moves(to, g, stays); moved {
			err = p.move(g, to, 1<<bits)
		} else if err == nil {
			err = p.evict(g, 1<<bits)
		}
		err = errors.Join(err, g.Close())
	}
	if err == nil {
		p.first = p.Stats()
	}
	return moved && err == nil, failed(p.context, err)
}

// moves reports whether groups go to another device. Those with lists do not: their values are no
// part of their rows.
func (p *pass) moves(to *pass, g *groups.Groups, stays bool) (bool, error) {
	switch {
	case !stays || p.written() > 0:
		return false, nil
	case g.Len() == 0:
		return true, nil
	case len(p.devices.config.Lists) > 0:
		return false, nil
	}
	room, err := to.HasRoom(g.Len())
	if err != nil {
		return false, &writeError{failed(to.context, err)}
	}
	return room, nil
}

// move submits groups to another device.
func (p *pass) move(g *groups.Groups, to *pass, partitions int) error {
	return readAll(g, min(len(p.writers), movers), partitions, func(_ int, _ *groups.Reader, read reading) error {
		m := mover{to: to}
		defer m.release()
		if err := read(m.copyRows); err != nil {
			return err
		}
		return m.submit()
	})
}

// mover fills slots of a device with rows of another. It holds one slot at most while it waits for
// rows, and none while it waits for a slot, so any number of slots will do for all movers.
type mover struct {
	to     *pass
	tile   *tile // nil: there is none
	filled int   // words of it
}

// copyRows copies rows to slots, and submits those that are full.
func (m *mover) copyRows(rows []uint64) error {
	for len(rows) > 0 {
		if m.tile == nil {
			t, err := m.to.takeSlot()
			if err != nil {
				return &writeError{err} // not of the device that is read
			}
			m.tile = t
		}
		words := m.tile.Words()
		n := copy(words[m.filled:], rows)
		rows = rows[n:]
		if m.filled += n; m.filled == len(words) {
			if err := m.submit(); err != nil {
				return err
			}
		}
	}
	return nil
}

// submit submits the tile, if there is one.
func (m *mover) submit() error {
	if m.tile == nil {
		return nil
	}
	t, rows := m.tile, m.filled/m.tile.stride
	m.tile, m.filled = nil, 0
	m.to.joined.Add(uint64(rows))
	if err := t.Submit(rows); err != nil {
		return &writeError{err}
	}
	return nil
}

// release gives the slot back, should its rows not be wanted any more.
func (m *mover) release() {
	if m.tile != nil {
		m.tile.Release()
	}
}

// reading calls emit with the rows of one partition after another, as long as there are some that
// no other reader has read.
type reading func(emit func(rows []uint64) error) error

// readAll hands out the groups of all partitions, by as many readers as are given, or as there is
// memory for. each is called once for each of them.
func readAll(g *groups.Groups, readers, partitions int, each func(number int, r *groups.Reader, read reading) error) error {
	if err := g.Open(); err != nil {
		return err
	}
	var next, done atomic.Int64
	refused, errs := make([]error, readers), make([]error, readers)
	var all sync.WaitGroup
	for i := range readers {
		all.Go(func() {
			refused[i], errs[i] = withReader(g, func(r *groups.Reader) error {
				return each(i, r, func(emit func(rows []uint64) error) error { return readSome(r, int64(partitions), &next, &done, emit) })
			})
		})
	}
	all.Wait()
	if done.Load() < int64(partitions) {
		errs = append(errs, refused...)
	}
	return errors.Join(errs...)
}

// withReader lets do use a reader, which is closed then, also after a panic. refused: there is no
// such reader.
func withReader(g *groups.Groups, do func(r *groups.Reader) error) (refused, err error) {
	defer invariant.Recovered(&err)
	r, refused := g.Reader()
	if refused != nil {
		return refused, nil
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return nil, do(r)
}

// readSome hands out the groups of partitions until there are no more; next is the next partition
// that is not read by any goroutine.
func readSome(r *groups.Reader, partitions int64, next, done *atomic.Int64, emit func(rows []uint64) error) error {
	for n := next.Add(1) - 1; n < partitions; n = next.Add(1) - 1 {
		if err := r.Read(int(n), emit); err != nil {
			return err
		}
		done.Add(1)
	}
	return nil
}
