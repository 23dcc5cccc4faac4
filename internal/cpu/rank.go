package cpu

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/gagg-dev/gagg/internal/key"
)

// This file is how rows that lie anywhere are put in order: by a word of
// each, first its hash, and those that have it in common by the next word of their keys
// (key.Digit). So a comparison looks at no row, of which one would have to wait for the other.

// ranked is the number of a row and the word that it is ordered by, in halves: so it takes 12 bytes, and the
// directory, when it is dropped, makes room for all of its groups.
type ranked struct{ high, low, row uint32 }

func (r *ranked) digit() uint64     { return uint64(r.high)<<32 | uint64(r.low) }
func (r *ranked) setDigit(d uint64) { r.high, r.low = uint32(d>>32), uint32(d) }

const rankedBytes = 12

// rankFew is how many rows are ordered by comparing their keys. A guess.
const rankFew = 16

// rankedOf lists rows by their numbers, n of them.
func rankedOf(rows iter.Seq[uint32], n int) []ranked {
	list := make([]ranked, 0, n)
	for row := range rows {
		list = append(list, ranked{row: row})
	}
	return list
}

// rank puts rows in order of their hashes, then of their keys.
func (m *Merger) rank(ctx context.Context, rows []ranked) error {
	r := ranker{m: m, stop: stop{ctx: ctx}}
	for i := range rows {
		rows[i].setDigit(m.row(rows[i].row)[0])
	}
	r.split(rows, key.Digit{}, false)
	return r.stop.err()
}

type ranker struct {
	m    *Merger
	stop stop
}

// order puts rows in order, whose keys are the same before digit `at`.
func (r *ranker) order(rows []ranked, at key.Digit) {
	for !r.stop.stopped {
		if len(rows) <= rankFew {
			slices.SortFunc(rows, func(a, b ranked) int { return r.m.compare(r.m.row(a.row), r.m.row(b.row)) })
			return
		}
		digit, next, end, same := uint64(0), at, false, true
		for i := range rows {
			digit, next, end = r.m.decoder.Digit(r.m.row(rows[i].row), at)
			rows[i].setDigit(digit)
			same = same && digit == rows[0].digit()
			if r.stop.due() {
				return
			}
		}
		if !same {
			r.split(rows, next, end)
			return
		}
		if at = next; end { // rows of one key
			return
		}
	}
}

// split puts rows in order of the digits that were read of them, and those of one digit in order of the next ones.
func (r *ranker) split(rows []ranked, next key.Digit, end bool) {
	slices.SortFunc(rows, func(a, b ranked) int {
		if r.stop.due() { // in any order, and soon
			return 0
		}
		return cmp.Compare(a.digit(), b.digit())
	})
	for from := 0; from < len(rows) && !end && !r.stop.stopped; {
		to, digit := from+1, rows[from].digit()
		for to < len(rows) && rows[to].digit() == digit {
			to++
		}
		if to > from+1 {
			r.order(rows[from:to], next)
		}
		from = to
	}
}
