package cpu

import (
	"context"
	"iter"
	"math/bits"
	"slices"
)

// This file is what keeps keys that were made to have the same hash, or hashes
// that begin alike, from making the time quadratic (F10).
//
// CROWDED: look-ups in a directory probe a limited number of slots for each row,
// for any keys. When they have probed more, groups are placed anew, by a
// seeded hash of their keys, which nobody knows: key.Layout.Secret. From then on
// the order of slots is not that of hashes. A table does without that; a merger
// sorts its groups before it emits them. Its directory need not have a slot for
// each row then (merge_grow.go). Where groups do not fit in memory it
// sorts rows on disk (sorted.go): dividing them by hash might not part them.

const (
	// probeEach is how many slots may be probed for a row, over many of them. In a
	// directory that is half full a new key probes 1.5 by Knuth's formula, 7.5 in one that
	// is three quarters full; some keys come often and lie far from home.
	probeEach = 32
	// probeFree is how many may be probed beside that: rows may be few.
	probeFree = 1 << 14
)

// allow begins the look-ups of some rows: those of a batch, a page or a block.
func (d *directory) allow(rows int) {
	if !d.crowded() {
		d.left = probeEach*rows + probeFree
	}
}

// probed counts the slots from the home slot of a hash to s.
func (d *directory) probed(hash, s uint64) {
	d.left -= int((s - d.home(hash)) & uint64(len(d.slots)-1))
}

// crowded reports whether more slots were probed than are allowed.
func (d *directory) crowded() bool { return d.left < 0 && !d.seeded }

// seed places all groups anew; secret is the seeded hash of one. It needs no second directory: a
// group takes the first slot where no other has been placed anew, and a group that it finds there
// goes next.
func (d *directory) seed(secret func(group uint32) uint64) {
	d.seeded, d.skip = true, 0
	anew := make([]uint64, (len(d.slots)+63)/64) // a bit for each slot
	for from, e := range d.slots {
		if e == 0 || anew[from/64]>>(from%64)&1 != 0 {
			continue
		}
		d.slots[from] = 0
		for e != 0 {
			group := d.group(e)
			hash := secret(group)
			s := d.home(hash)
			for anew[s/64]>>(s%64)&1 != 0 {
				s = d.next(s)
			}
			e = d.slots[s]
			d.put(s, hash, group)
			anew[s/64] |= 1 << (s % 64)
		}
	}
}

// hashOf is the hash by which the merger's directory places a row.
func (m *Merger) hashOf(row []uint64) uint64 {
	if m.dir.seeded {
		return m.cfg.Keys.Secret(row, m.decoder.Base, m.cfg.Arenas)
	}
	return m.cfg.Keys.RowHash(row)
}

// groups is the groups of a directory, whose numbers are below numbers, in order of these: so that
// their rows are looked at one after the other.
func (d *directory) groups(numbers int) iter.Seq[uint32] {
	in := make([]uint64, (numbers+63)/64) // a bit for each number
	for _, e := range d.slots {
		if e != 0 {
			g := d.group(e)
			in[g/64] |= 1 << (g % 64)
		}
	}
	return func(yield func(uint32) bool) {
		for i, word := range in {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(64*i + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// emitSorted emits the groups of a seeded directory, which is gone then. If it is refused memory,
// it has emitted none, and the directory is as it was.
func (m *Merger) emitSorted(ctx context.Context) error {
	defer m.dropIndex()
	numbers := m.dir.groups(len(m.pages) << m.store.pool.PageBits)
	if err := m.indexFor(m.n); err != nil {
		return err
	}
	groups := rankedOf(numbers, m.n)
	if err := m.rank(ctx, groups); err != nil {
		return err
	}
	for len(groups) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		some := groups[:min(len(groups), m.out.most)]
		if err := m.out.emit(m.gather(some)); err != nil {
			return err
		}
		groups = groups[len(some):]
	}
	return nil
}

// gather copies rows to the emitter's rows. In a loop without decisions the processor waits for
// several of them at a time.
func (m *Merger) gather(rows []ranked) []uint64 {
	stride := m.cfg.Stride
	m.out.rows = slices.Grow(m.out.rows[:0], len(rows)*stride)[:len(rows)*stride]
	for i, r := range rows {
		copyRow(m.out.rows[i*stride:(i+1)*stride], m.row(r.row))
	}
	return m.out.rows
}
