package groups_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// layouts are pairs with their hash, keys of two and three words, and every operation.
var layouts = []ega.Layout{
	{Hash: true, KeyWords: 1, Ops: []combine.Op{combine.Add}},
	egatest.EveryOp,
	{Hash: true, KeyWords: 3, Ops: []combine.Op{combine.Add, combine.MaxInt}},
}

// slots is how many a table of these tests has: some 20 for each of its groups.
const slots = 1 << 16

// locate is the groups of rows in a table.
func locate(r *egatest.Rig, l *ega.Layout, readBytes int, rows []uint64) *groups.Groups {
	return locateIn(r, l, slots, readBytes, rows)
}

// locateIn is locate in a table of so many slots.
func locateIn(r *egatest.Rig, l *ega.Layout, slots uint32, readBytes int, rows []uint64) *groups.Groups {
	t := r.Table(r.Load(*l), ega.TableConfig{Slots: slots})
	r.Do(t.Add(r.Stream, r.Send(rows), uint64(len(rows)/l.Stride())))
	r.Do(r.Stream.Synchronize())
	g, err := groups.New(r.Thread, r.Stream, groups.Config{
		Context: r.Thread.Context(), Layout: l, Table: t, Room: 4 << 20, Readers: 1, ReadBytes: cuda.Size(readBytes),
	})
	r.Do(err)
	return g
}

// reader is a reader of the groups of rows.
func reader(r *egatest.Rig, l *ega.Layout, readBytes int, rows []uint64) (*groups.Groups, *groups.Reader) {
	g := locate(r, l, readBytes, rows)
	r.Do(g.Open())
	reader, err := g.Reader()
	r.Do(err)
	return g, reader
}

// An error of emit ends a Read while the next piece still crosses; the reader goes on to be of use.
func TestReaderEmit(t *testing.T) {
	r := egatest.NewRig(t)
	l := layouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 3000, func(i int) uint64 { return uint64(i) })
	g, reader := reader(r, &l, 5000, rows)
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

// Groups come in order of their hashes as far as their fine buckets are no larger than expected;
// larger buckets come whole. One here has three times as many groups as slots, but every row still
// finds a slot.
func TestReaderOrder(t *testing.T) {
	r := egatest.NewRig(t)
	for _, l := range layouts {
		for _, crowded := range []bool{false, true} {
			rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 3000, func(i int) uint64 { return uint64(i) })
			for at := 0; crowded && at < 100*l.Stride(); at += l.Stride() {
				rows[at] = rows[at]>>15 | 5<<49 // a hash is still one of a key
			}
			g, reader := reader(r, &l, groups.DefaultReadBytes, rows)
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

// Buckets that no buffer has room for leave the table in several windows, also those that go around
// its end; and so does the key that looks like an empty slot.
func TestReaderWindows(t *testing.T) {
	r := egatest.NewRig(t)
	for _, l := range layouts {
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
			g, reader := reader(r, &l, buffer, rows)
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

// A walk hands out each group once, in order of hash as far as prefixes tell, with much room or
// little.
func TestWalk(t *testing.T) {
	r := egatest.NewRig(t)
	l := &layouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(9, 10)), l, 1500, func(i int) uint64 { return uint64(i) })
	for at := 0; at < 100*l.Stride(); at += l.Stride() {
		rows[at] = rows[at]>>15 | 5<<49 // more than a bucket has slots
	}
	g := locate(r, l, 0, rows)
	r.Do(g.Locate(r.Thread, r.Stream))
	out := r.Space(len(rows))
	for _, room := range []uint32{1, 7, 1500} {
		for _, bits := range []uint{0, 1, g.BucketBits()} {
			var all []uint64
			for prefix := range 1 << bits {
				for w := g.Walk(prefix, bits); w.More(); {
					n := w.Next(room)
					if n > room {
						t.Fatalf("%d groups, and room for %d", n, room)
					}
					r.Do(w.CopyTo(r.Stream, out))
					some := r.Read(out, int(n)*l.Stride())
					for at := 0; at < len(some); at += l.Stride() {
						if got := some[at] >> 1 >> (63 - bits); got != uint64(prefix) {
							t.Fatalf("a group of prefix %d among those of %d, of %d bits", got, prefix, bits)
						}
					}
					all = append(all, some...)
				}
				if room == 1 && bits == g.BucketBits() && prefix > 200 { // each group is a launch
					break
				}
			}
			if room > 1 || bits < g.BucketBits() {
				r.Same(l, all, rows)
			}
		}
	}
	r.Do(g.Close())
}
