package groups_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// pairLayout is groups by a key and a value, which counts in the second state; the top bit of its
// word says that it is NULL.
var pairLayout = ega.Layout{Hash: true, KeyWords: 2, Ops: []combine.Op{combine.Add, combine.Add, combine.MaxInt}}

// byKey regroups them by so many keys: one, or none.
func byKey(keys int) *groups.Regrouping {
	r := &groups.Regrouping{KeyWords: 1, AtMost: math.MaxUint64}
	if keys > 0 {
		r.Keys = []kernels.EgaRegroupKey{{Form: kernels.EgaRegroupBits, Words: 1, FromWord: 1, ToWord: 1, Bits: 64}}
	}
	r.Value = kernels.EgaRegroupPlan{Null: 1 << 63, NullWord: 2, Word: 2, Bits: 63}
	r.States = []kernels.EgaRegroupState{{State: 1, Constant: 1}, {State: 2, Word: kernels.ParquetCopy}}
	return r
}

// pairRows is n groups by pairs, of so many keys.
func pairRows(rng *rand.Rand, n, keys int) (rows []uint64) {
	for i := range n {
		key := []uint64{uint64(i % keys), uint64(i)}
		if i < keys {
			key[1] = 1 << 63
		}
		rows = append(append(append(rows, reference.HashOf(key)), key...), rng.Uint64()%9, 0, 1<<63)
	}
	return rows
}

// regrouped is the groups that they become, and how many have a value.
func regrouped(l *ega.Layout, rows []uint64, keys int) (want []uint64, valued uint64) {
	for row := range slices.Chunk(rows, pairLayout.Stride()) {
		key := []uint64{0}
		hash := uint64(0xa0761d6478bd642f) // of no field
		if keys > 0 {
			key[0] = row[1]
			hash = reference.HashOf(key)
		}
		states := slices.Clone(row[3:])
		if row[2]>>63 == 0 {
			states[1]++
			states[2] = row[2]
			valued++
		}
		want = append(append(append(want, hash), key...), states...)
	}
	return reference.Combine(l, want), valued
}

// inOrder has two thirds of the rows, those in the first slots, have one key, so that a guess by
// these is wrong.
func inOrder(rows []uint64) {
	stride := pairLayout.Stride()
	n := len(rows) / stride
	for i := range n {
		row := rows[i*stride:]
		if row[0] = uint64(i) << 49; 3*i < 2*n {
			row[1] = 0
		} else {
			row[1] = uint64(i)
		}
	}
}

// Groups by pairs become groups by their keys, of which there are few, many or one, in one piece or
// several; and they stay what they are.
func TestRegroup(t *testing.T) {
	r := egatest.NewRig(t)
	rng := rand.New(rand.NewPCG(21, 22))
	to := pairLayout
	to.KeyWords = 1
	for _, x := range []struct {
		n, keys, by int
		sure        uint64 // above 1: guesses are wrong
	}{
		{3000, 1, 0, 0},
		{3000, 7, 1, 0},
		{3000, 900, 1, 0},
		{3000, 3000, 1, 0},
		{1, 1, 1, 0},
		{20_000, 15_000, 1, 0},
		{20_000, 15_000, 1, 1},
		{20_000, 3, 1, 1},
		{20_000, 300, 1, 1},
		{20_000, 1, 0, 1},
		{20_000, 1, 1, 2},
	} {
		rows := pairRows(rng, x.n, x.keys)
		if x.sure > 1 {
			inOrder(rows)
		}
		want, valued := regrouped(&to, rows, x.by)
		room := cuda.Size(4 << 20)
		if x.sure > 0 {
			room = 2 << 20 // small pieces
		}
		g := locateWith(r, 1<<16, room, rows)
		var groupCount uint64
		what := byKey(x.by)
		what.Sure = x.sure
		out, err := g.Regroup(what, groups.RegroupTexts{}, func(n uint64) uint { groupCount = n; return 2 })
		r.Do(err)
		if out.Groups == nil || out.Valued != valued || groupCount != uint64(len(want)/to.Stride()) || out.Groups.Len() != groupCount {
			t.Fatalf("%+v: %+v, %d groups of %d, %d valued", x, out, groupCount, len(want)/to.Stride(), valued)
		}
		r.Same(&to, readAll(r, out.Groups, 4), want)
		r.Same(&pairLayout, readAll(r, g, 1), rows)
		r.Do(out.Groups.Close())
		r.Do(g.Close())
	}
}

// locateWith is the groups of rows, with that much room beside their table.
func locateWith(r *egatest.Rig, slots uint32, room cuda.Size, rows []uint64) *groups.Groups {
	table := r.Table(r.Load(pairLayout), ega.TableConfig{Slots: slots})
	r.Do(table.Add(r.Stream, r.Send(rows), uint64(len(rows)/pairLayout.Stride())))
	r.Do(r.Stream.Synchronize())
	g, err := groups.New(r.Thread, r.Stream, groups.Config{
		Context: r.Thread.Context(), Layout: &pairLayout, Table: table, Room: room, Readers: 1, ReadBytes: 16 << 10,
	})
	r.Do(err)
	return g
}

// readAll opens and reads the groups of so many partitions.
func readAll(r *egatest.Rig, g *groups.Groups, partitions int) (all []uint64) {
	r.Do(g.Open())
	reader, err := g.Reader()
	r.Do(err)
	for p := range partitions {
		r.Do(reader.Read(p, func(rows []uint64) error {
			all = append(all, rows...)
			return nil
		}))
	}
	r.Do(reader.Close())
	return all
}

// Where there is too little room, or a text that is not on the device, there are no other groups,
// and nothing has changed.
func TestRegroupNot(t *testing.T) {
	r := egatest.NewRig(t)
	rows := pairRows(rand.New(rand.NewPCG(23, 24)), 3000, 2000)
	texts := byKey(1)
	texts.Keys[0].Form = kernels.EgaRegroupNumber // of no table
	for _, x := range []struct {
		room cuda.Size
		what *groups.Regrouping
	}{{100 << 10, byKey(1)}, {4 << 20, texts}} {
		g := locateWith(r, 6000, x.room, rows)
		out, err := g.Regroup(x.what, groups.RegroupTexts{}, func(uint64) uint { return 0 })
		r.Do(err)
		if out.Groups != nil {
			t.Errorf("%d bytes: there was room", x.room)
			r.Do(out.Groups.Close())
		}
		r.Same(&pairLayout, readAll(r, g, 1), rows)
		r.Do(g.Close())
	}
}
