package agg

import (
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file adds up rows of few groups. Where a group comes again within a few rows, each addition
// to its word waits for the one before to be stored and loaded again. So a batch is added up in an
// array first: fewLanes sums for each group, of which the rows take turns. They have 64 bits, which
// a batch cannot overflow unless its values have almost as many.

const (
	fewGroups = 64 // 2 KiB of sums
	fewLanes  = 4
)

// fewSums is the sums of a batch by group, with those of the lanes before they are added up.
type fewSums [fewGroups * fewLanes]int64

// few is the number of groups of the table, if a batch of that many rows is added up group by
// group; 0: there are too many groups for that.
func (t *Table) few(rows int) int {
	if len(t.Rows) > fewGroups*t.Stride || rows < 2*fewLanes*(len(t.Rows)/t.Stride) {
		return 0
	}
	return len(t.Rows) / t.Stride
}

// add sets the first n sums to those of n groups; false: they may have overflowed.
func (f *fewSums) add(n int, gids []uint32, vals []int64) bool {
	clear(f[:n*fewLanes])
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
	f.join(n)
	return bits.Len64(uint64(all))+bits.Len(uint(len(gids))) < 63
}

// count sets the first n sums to how many rows n groups have.
func (f *fewSums) count(n int, gids []uint32) {
	clear(f[:n*fewLanes])
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
	f.join(n)
}

// join adds up the lanes.
func (f *fewSums) join(n int) {
	for g := range n {
		at := g * fewLanes
		f[g] = f[at] + f[at+1] + f[at+2] + f[at+3]
	}
}

// addFew adds the rows to the sums of n groups; false: this is not for s, or the batch may have
// overflowed.
func (s *slot) addFew(t *Table, n int, gids []uint32, x *column.Vector) bool {
	f := &t.scratch.few
	wide := s.op == opAddWide192 || s.op == opAddWide320
	one := (s.op == opAddInt || s.op == opAddCounted) && x.Dict == nil && (x.Narrow || x.Type.Rep() == column.RepInt64)
	if s.op != opAddInt128 && !one && !(wide && x.Narrow) || !f.add(n, gids, x.Int) {
		return false
	}
	for g, sum := range f[:n] {
		row := t.Rows[g*t.Stride:][:t.Stride]
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
		f.count(n, gids)
		for g, rows := range f[:n] {
			t.Rows[g*t.Stride+s.hot] += uint64(rows)
		}
	}
	return true
}
