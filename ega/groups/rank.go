package groups

import (
	"errors"
	"math"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// This file finds the rank of the last group that a Selection wants, by counting ranks in ranges,
// and then in parts of the range that has it. Each count goes over the table. So in a large table
// only one slot of selectEvery is looked at, at first: the rank that a few more of these groups do
// not exceed is one that at least as many groups as are wanted do not exceed, and hardly more. Only
// if the groups that it lets leave are too few, or too many, all slots are looked at.

// last is the last group that leaves.
type last struct {
	bound  uint64 // its rank
	groups uint64 // that leave: those that do not come behind it, and those that are unsure. At most, or about
	all    bool   // all groups leave that may
}

// tries is of how many slots one is looked at to find the last group wanted: at first, and if that
// was too few.
func (n *selecting) tries() []uint64 {
	sure := uint64(selectSure)
	if n.what.Sure > 0 {
		sure = n.what.Sure
	}
	if n.what.All || uint64(n.config.Table.View().Slots) <= sure || n.Len() < selectLeast {
		return []uint64{1}
	}
	return []uint64{selectEvery, 1}
}

// last finds the last group that is wanted, by one of so many slots.
func (n *selecting) last(every uint64) (last, error) {
	n.look(every)
	n.wanted.ByHash, n.wanted.Tied = flag(n.what.Hashes), 0 // all have the rank Tied
	if n.what.All {
		return last{bound: math.MaxUint64, groups: n.Len(), all: true}, nil
	}
	words, err := n.counted(func(grid cuda.Grid, out cuda.Ptr) error {
		return n.kernel.Range(n.stream, grid, n.view, n.config.Table.View(), n.wanted, out)
	})
	if err != nil {
		return last{}, err
	}
	seen, aim := window{least: ^words[leastWord], greatest: words[greatestWord], groups: words[rankedWord]}, n.aim()
	if n.what.Best == 0 || seen.groups <= aim.least {
		return last{math.MaxUint64, n.of(seen.groups + words[unsureWord]), true}, nil
	}
	bound, kept, err := n.bound(seen, aim)
	if err == nil && n.parts(bound, kept, aim) {
		n.wanted.Tied, n.wanted.ByHash = bound, 1
		bound, kept, err = n.bound(window{greatest: math.MaxUint64, groups: kept}, aim)
	}
	return last{bound, n.of(kept + words[unsureWord]), false}, err
}

// of is how many groups there are if so many are among those that were looked at: at most, but for
// chance.
func (n *selecting) of(seen uint64) uint64 {
	if n.every == 1 {
		return seen
	}
	return min(n.Len(), n.every*beyond(seen))
}

// beyond is a number that one is hardly greater which chance has about n.
func beyond(n uint64) uint64 { return n + selectChance + uint64(selectChance/2*math.Sqrt(float64(n))) }

// aim is how many groups, of those that are looked at, should leave: at least, and hardly more than
// most.
type aim struct{ least, most uint64 }

func (n *selecting) aim() aim {
	slack := min(selectSlack, n.Len()/selectPart)
	if n.every == 1 {
		return aim{n.what.Best, n.what.Best + slack}
	}
	least := beyond(n.what.Best/n.every + 1)
	return aim{least, least + slack/n.every/2}
}

// parts reports whether the groups of the last rank, which too many have, are to be parted by their
// hashes. A NULL may have the rank of another value, the least or the greatest that there is.
func (n *selecting) parts(bound, kept uint64, a aim) bool {
	return n.what.ByHash && n.wanted.ByHash == 0 && kept > a.most && bound != 0 && bound != math.MaxUint64
}

// window is some ranks: those from least to greatest, so many groups, behind `before` others.
type window struct {
	least, greatest uint64
	groups, before  uint64
}

// bound returns the rank of the last group that is wanted, or a slightly greater one up to which
// there are hardly more groups. kept is the number of groups with that rank or a lesser one.
func (n *selecting) bound(w window, a aim) (bound, kept uint64, err error) {
	counts := make([]uint32, kernels.EgaSelectRanges)
	for {
		shift := uint32(max(bits.Len64(w.greatest-w.least)-bits.Len(kernels.EgaSelectRanges-1), 0))
		err := errors.Join(
			n.stream.Fill(n.ranges, 0),
			n.kernel.Histogram(n.stream, kernels.EgaSelectHistogramGrid(n.slots(), n.what.Registers), n.view, n.config.Table.View(), n.wanted, w.least, shift, n.ranges.Ptr),
			n.stream.Synchronize(),
			n.thread.Read(asBytes(counts), n.ranges),
		)
		if err != nil {
			return 0, 0, err
		}
		i := 0
		for w.before+uint64(counts[i]) < a.least {
			w.before += uint64(counts[i])
			i++
		}
		w.groups = uint64(counts[i])
		w.least += uint64(i) << shift
		w.greatest = w.least + min(w.greatest-w.least, 1<<shift-1) // the last range may end beyond all words
		if shift == 0 || w.before+w.groups <= a.most {
			return w.greatest, w.before + w.groups, nil
		}
	}
}
