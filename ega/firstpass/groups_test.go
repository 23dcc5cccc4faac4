package firstpass_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/ega/reference"
)

// groups is the groups of rows that a pass leaves on the device, and a reader of them. The pass is closed.
func (r *rig) groups(c *firstpass.Config, rows []uint64) (*firstpass.Groups, *firstpass.GroupReader) {
	c.Place = func(int, []uint64) error { return nil }
	m, err := firstpass.Start(r.Within("the end of a pass"), r.Thread.Context(), *c)
	r.Do(err)
	r.Do(feed(m, &c.Layout, rows))
	g, err := m.Finish(0)
	r.Do(err)
	r.Do(m.Close())
	reader, err := g.Reader()
	r.Do(err)
	return g, reader
}

// An error of emit ends a Read while the next piece still crosses; the reader goes on to be of use. Groups outlive
// their pass.
func TestGroupReaderEmit(t *testing.T) {
	r := newRig(t)
	l := passLayouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 3000, func(i int) uint64 { return uint64(i) })
	g, reader := r.groups(&firstpass.Config{Layout: l, SlotBytes: 20_000, Device: 4 << 20, ReadBytes: 5000}, rows)
	enough := errors.New("enough")
	calls := 0
	if err := reader.Read(0, func([]uint64) error { calls++; return enough }); !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%v after %d pieces", err, calls)
	}
	var all []uint64
	r.Do(reader.Read(0, func(rows []uint64) error {
		all = append(all, rows...)
		clear(rows) // they are the caller's
		return nil
	}))
	r.Same(&l, all, reference.Combine(&l, rows))
	r.Do(reader.Close())
	r.Do(reader.Close())
	r.Do(g.Close())
}

// Groups come in order of their hashes as far as their fine buckets are no larger than expected, and others whole: here one that has
// three times as many groups as slots, but not so many that a row finds none.
func TestGroupReaderOrder(t *testing.T) {
	r := newRig(t)
	for _, l := range passLayouts {
		for _, crowded := range []bool{false, true} {
			rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 3000, func(i int) uint64 { return uint64(i) })
			for at := 0; crowded && at < 100*l.Stride(); at += l.Stride() {
				rows[at] = rows[at]>>15 | 5<<49 // a hash is still one of a key
			}
			g, reader := r.groups(&firstpass.Config{Layout: l, SlotBytes: 20_000, Device: 8 << 20}, rows)
			last, ordered := uint64(0), true
			var all []uint64
			r.Do(reader.Read(0, func(rows []uint64) error {
				for at := 0; at < len(rows); at += l.Stride() {
					ordered, last = ordered && last <= rows[at], rows[at]
				}
				all = append(all, rows...)
				return nil
			}))
			if ordered == crowded {
				t.Errorf("%+v: groups are in order: %t", l, ordered)
			}
			r.Same(&l, all, reference.Combine(&l, rows))
			r.Do(reader.Close())
			r.Do(g.Close())
		}
	}
}

// Who waits for a slot hears of the end of its context, which stops the pass: here nobody gives slots back.
func TestSlotContext(t *testing.T) {
	r := newRig(t)
	m, err := firstpass.Start(r.Within("the end of a pass"), r.Thread.Context(), firstpass.Config{
		Layout: passLayouts[0], Slots: 2, SlotBytes: 20_000, Device: 4 << 20, Place: func(int, []uint64) error { return nil },
	})
	r.Do(err)
	first, err := m.Slot(r.Within("a slot"))
	r.Do(err)
	second, err := m.Slot(r.Within("a slot"))
	r.Do(err)
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	if _, err := m.Slot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	m.Release(first)
	m.Release(second)
	if _, err := m.Finish(0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	r.Do(m.Close())
}

// Buckets that no buffer has room for leave the table in several windows, also those that go around its end; and so does the key that looks
// like an empty slot.
func TestGroupReaderWindows(t *testing.T) {
	r := newRig(t)
	for _, l := range passLayouts {
		rows := egatest.Rows(rand.New(rand.NewPCG(7, 8)), &l, 2000, func(i int) uint64 {
			if i == 0 {
				return egatest.Empty
			}
			return uint64(i)
		})
		for at := l.Stride(); at < 100*l.Stride(); at += l.Stride() {
			rows[at] = ^uint64(0) - rows[at]>>20 // begins at the last slots
		}
		for _, buffer := range []int{int(l.RowBytes()), 9*int(l.RowBytes()) + 8} {
			g, reader := r.groups(&firstpass.Config{Layout: l, SlotBytes: 20_000, Device: 8 << 20, ReadBytes: buffer}, rows)
			var all []uint64
			largest := 0
			r.Do(reader.Read(0, func(rows []uint64) error {
				all = append(all, rows...)
				largest = max(largest, len(rows)/l.Stride())
				return nil
			}))
			if largest < 99 {
				t.Errorf("%+v: the groups of one bucket came in pieces of at most %d", l, largest)
			}
			r.Same(&l, all, reference.Combine(&l, rows))
			r.Do(reader.Close())
			r.Do(g.Close())
		}
	}
}
