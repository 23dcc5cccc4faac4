package groups

import (
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// stretch is the groups that leave the table together: those of the buckets from first on, before
// end. If end is first, it is `rows` groups of that one bucket, after `skip` others.
type stretch struct {
	first, end int
	skip, rows uint32
}

// stretch returns as many of the buckets from first on, before end, as fit into room rows; maybe
// none.
func (g *Groups) stretch(first, end int, room uint32) stretch {
	last := first
	for last < end && g.from[last+1]-g.from[first] <= room {
		last++
	}
	return stretch{first: first, end: last, rows: g.from[last] - g.from[first]}
}

// windows calls do with the groups of a bucket, at most room of them at a time.
func (g *Groups) windows(bucket int, room uint32, do func(stretch) error) error {
	all := g.from[bucket+1] - g.from[bucket]
	for skip := uint32(0); skip < all; skip += min(room, all-skip) {
		if err := do(stretch{bucket, bucket, skip, min(room, all-skip)}); err != nil {
			return err
		}
	}
	return nil
}

// copyOut queues the copy of groups from the table to the start of `to`.
func (g *Groups) copyOut(s *cuda.Stream, what stretch, to cuda.Span) (cuda.Span, error) {
	to = to.Slice(0, cuda.Size(what.rows)*g.row)
	first, fines := uint32(what.first)<<g.shift, uint32(max(what.end-what.first, 1))<<g.shift
	return to, g.order.Take(
		s, kernels.OrderTake(fines), g.view, g.config.Table.View(), g.reach, uint32(g.fine), g.places.Ptr, first, fines, what.skip, what.rows, to.Ptr)
}

// Walk goes over groups in order of hash, as many at a time as there is room for.
type Walk struct {
	groups     *Groups
	first, end int    // buckets that are left
	gone       uint32 // groups of the first of them that Next has handed out
	next       stretch
}

// Walk begins a walk over the groups whose hashes begin with prefix, a number of `bits` bits, at
// most BucketBits.
func (g *Groups) Walk(prefix int, bits uint) *Walk {
	shift := g.BucketBits() - bits
	return &Walk{groups: g, first: prefix << shift, end: (prefix + 1) << shift}
}

// More reports whether there may be more groups.
func (w *Walk) More() bool { return w.first < w.end }

// Next goes on to the next groups, at most room of them, and returns how many they are; maybe
// none. Groups of a bucket that do not fit follow next time.
func (w *Walk) Next(room uint32) (rows uint32) {
	from := w.groups.from
	if left := from[w.first+1] - from[w.first] - w.gone; w.gone > 0 || left > room {
		w.next = stretch{w.first, w.first, w.gone, min(left, room)}
		if w.gone += w.next.rows; w.next.rows == left {
			w.first, w.gone = w.first+1, 0
		}
	} else {
		w.next = w.groups.stretch(w.first, w.end, room)
		w.first = w.next.end
	}
	return w.next.rows
}

// CopyTo queues the copy of the groups of the last Next to the start of `to`.
func (w *Walk) CopyTo(s *cuda.Stream, to cuda.Span) error {
	_, err := w.groups.copyOut(s, w.next, to)
	return err
}
