package agg

import (
	"math/bits"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file adds up batches of few groups. Where a group comes again within a few rows, each
// addition to its word waits for the one before to be stored and loaded again; those of floats are
// long chains of operations besides. So a batch is added up apart first: in fewLanes places for
// each group, of which the rows take turns. Integers take an array of sums of 64 bits, which a
// batch cannot overflow unless its values have almost as many, and floats rows of a table
// (updateLanes).
//
// Groups of a batch are few where the table has no more, and where their numbers lie close
// together, as of rows that come in the order of their keys.

const (
	fewGroups = 64 // 2 KiB of sums
	fewLanes  = 4
)

// fewSums is the sums of a batch by group, the number of which modulo fewGroups has fewLanes of
// them: those of the lanes, and in the first of them what they add up to.
type fewSums [fewGroups * fewLanes]int64

// few is the groups of a batch, if they are few: n of them from number first on. n 0: they are
// many, or the batch has too few rows for them.
type few struct {
	first uint32
	n     int
}

// few finds the few groups of rows.
func (t *Table) few(gids []uint32) few {
	f := few{0, len(t.Rows) / t.Stride}
	if f.n > fewGroups {
		f = closeNumbers(gids)
	}
	if len(gids) < 2*fewLanes*f.n {
		return few{}
	}
	return f
}

// closeNumbers is few of groups whose numbers lie close together.
func closeNumbers(gids []uint32) few {
	if len(gids) == 0 {
		return few{}
	}
	least, most := gids[0], gids[0]
	for some := range slices.Chunk(gids, fewGroups) { // mostly the first one tells that they are many
		for _, g := range some {
			least, most = min(least, g), max(most, g)
		}
		if most-least >= fewGroups {
			return few{}
		}
	}
	return few{least, int(most-least) + 1}
}

// of is the sum of a group.
func (f *fewSums) of(group uint32) int64 { return f[group%fewGroups*fewLanes] }

// add sets the sums to those of the groups; false: they may have overflowed.
func (f *fewSums) add(gids []uint32, vals []int64) bool {
	clear(f[:])
	vals = vals[:len(gids)]
	all, i := int64(0), 0 // the bits of all values, as if none were negative
	for ; i+fewLanes <= len(gids); i += fewLanes {
		g, v := gids[i:i+fewLanes:i+fewLanes], vals[i:i+fewLanes:i+fewLanes]
		a, b, c, d := v[0], v[1], v[2], v[3]
		f[g[0]%fewGroups*fewLanes] += a
		f[g[1]%fewGroups*fewLanes+1] += b
		f[g[2]%fewGroups*fewLanes+2] += c
		f[g[3]%fewGroups*fewLanes+3] += d
		all |= (a ^ a>>63) | (b ^ b>>63) | (c ^ c>>63) | (d ^ d>>63)
	}
	for ; i < len(gids); i++ {
		f[gids[i]%fewGroups*fewLanes] += vals[i]
		all |= vals[i] ^ vals[i]>>63
	}
	f.join()
	return bits.Len64(uint64(all))+bits.Len(uint(len(gids))) < 63
}

// count sets the sums to how many rows the groups have.
func (f *fewSums) count(gids []uint32) {
	clear(f[:])
	i := 0
	for ; i+fewLanes <= len(gids); i += fewLanes {
		g := gids[i : i+fewLanes : i+fewLanes]
		f[g[0]%fewGroups*fewLanes]++
		f[g[1]%fewGroups*fewLanes+1]++
		f[g[2]%fewGroups*fewLanes+2]++
		f[g[3]%fewGroups*fewLanes+3]++
	}
	for ; i < len(gids); i++ {
		f[gids[i]%fewGroups*fewLanes]++
	}
	f.join()
}

// join adds up the lanes.
func (f *fewSums) join() {
	for at := 0; at < len(f); at += fewLanes {
		f[at] += f[at+1] + f[at+2] + f[at+3]
	}
}

// addFew adds the rows to the sums of few groups; false: this is not for s, or the batch may have
// overflowed.
func (s *slot) addFew(t *Table, of few, gids []uint32, x *column.Vector) bool {
	f := &t.scratch.few
	wide := s.op == opAddWide192 || s.op == opAddWide320
	one := (s.op == opAddInt || s.op == opAddCounted) && x.Dict == nil && (x.Narrow || x.Type.Rep() == column.RepInt64)
	if s.op != opAddInt128 && !one && !(wide && x.Narrow) || !f.add(gids, x.Int) {
		return false
	}
	for g := of.first; g < of.first+uint32(of.n); g++ {
		row, sum := t.Rows[int(g)*t.Stride:][:t.Stride], f.of(g)
		switch {
		case one:
			row[s.hot] += uint64(sum) << s.shift
		case wide:
			words := wide128(0, sum)
			addWords(row[s.hot:][:wideWords(s.op)], words[:])
		default:
			addSigned128(&row[s.hot], &row[s.cold], 0, sum)
		}
	}
	if s.op == opAddCounted {
		f.count(gids)
		for g := of.first; g < of.first+uint32(of.n); g++ {
			t.Rows[int(g)*t.Stride+s.hot] += uint64(f.of(g))
		}
	}
	return true
}

// spread is the rows of scratch over which those of a batch are spread: some for each group.
type spread struct {
	table *Table
	gids  []uint32 // the row of scratch of each row of the batch
	into  []uint32 // the group of each row of scratch
	one   []uint32 // gids of one group
}

// oneLanes is over how many rows those of one group are spread.
const oneLanes = 8

// rows spreads the rows of v, which are of few groups.
func (r *spread) rows(l *Layout, t *Table, of few, v *view) []uint32 {
	if of.n == 1 {
		r.open(l, t, of, oneLanes)
		for len(r.one) < v.rows {
			r.one = append(r.one, uint32(len(r.one)%oneLanes))
		}
		return r.one[:v.rows]
	}
	r.open(l, t, of, fewLanes)
	r.gids = grow(r.gids, v.rows)
	for i, g := range v.gids {
		r.gids[i] = (g-of.first)*fewLanes + uint32(i%fewLanes)
	}
	return r.gids
}

// open makes the rows of scratch.
func (r *spread) open(l *Layout, t *Table, of few, lanes int) {
	if r.table == nil {
		r.table = &Table{Stride: t.Stride}
	}
	n := of.n * lanes
	r.table.Rows = grow(r.table.Rows, n*t.Stride)
	for k := range n {
		l.Init(r.table.Rows[k*t.Stride:])
	}
	r.into = grow(r.into, n)
	for k := range r.into {
		r.into[k] = of.first + uint32(k/lanes)
	}
}

// updateLanes updates slot s of few groups by way of the rows over which those of v are spread,
// which then combine.
func (l *Layout) updateLanes(t *Table, s *slot, of few, v *view) {
	r := &t.scratch.spread
	if v.spread == nil {
		v.spread = r.rows(l, t, of, v)
	}
	apart := *v
	apart.gids = v.spread
	l.update(r.table, s, &apart)
	l.combineSlot(s, t.Rows, t.Stride, r.into, r.table.Rows, taker{})
}
