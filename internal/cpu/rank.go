package cpu

import (
	"cmp"
	"context"
	"iter"
	"math/bits"
	"slices"

	"github.com/gagg-dev/gagg/internal/key"
)

// This file is how rows that lie anywhere are put in order: by a word of
// each, first its hash, and those that have it in common by the next word of their keys
// (key.Digit). So a comparison looks at no row, of which one would have to wait for the other.

// ranked is the number of a row and the word that it is ordered by, in halves: so it takes 12
// bytes, and the directory, when it is dropped, makes room for all of its groups.
type ranked struct{ high, low, row uint32 }

func (r *ranked) digit() uint64     { return uint64(r.high)<<32 | uint64(r.low) }
func (r *ranked) setDigit(d uint64) { r.high, r.low = uint32(d>>32), uint32(d) }

const rankedBytes = 12

// rankFew is how many rows are ordered by comparing their keys: four comparisons for each, in place
// of reading digits from keys and sorting by these.
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
	differ := uint64(0)
	for i := range rows {
		rows[i].setDigit(m.cfg.Keys.RowHash(m.row(rows[i].row)))
		differ |= rows[i].digit() ^ rows[0].digit()
	}
	r.split(rows, differ, key.Digit{}, false)
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
		digit, next, end, differ := uint64(0), at, false, uint64(0)
		for i := range rows {
			digit, next, end = r.m.decoder.Digit(r.m.row(rows[i].row), at)
			rows[i].setDigit(digit)
			differ |= digit ^ rows[0].digit()
			if r.stop.due() {
				return
			}
		}
		if differ != 0 {
			r.split(rows, differ, next, end)
			return
		}
		if at = next; end { // rows of one key
			return
		}
	}
}

// split puts rows in order of the digits that were read of them, which differ in some bits, and
// those of one digit in order of the next ones.
func (r *ranker) split(rows []ranked, differ uint64, next key.Digit, end bool) {
	r.sort(rows, bits.Len64(differ)-1)
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

const (
	// flagLeast is how many rows are distributed by a byte. Fewer are ordered by comparing their
	// digits: seven times each, about as much as clearing and adding up the 256 counters of a byte.
	flagLeast = 128
	// insertMost is how many are so by insertion, which moves up to 16 of 12 bytes each.
	insertMost = 32
)

// sort puts rows in order of their digits, which are the same above bit `top`: American flag sort
// (McIlroy, Bostic and McIlroy 1993), which needs no memory. When it is told to stop it leaves them
// in any order.
func (r *ranker) sort(rows []ranked, top int) {
	for ; top >= 0 && !r.stop.check(); top -= 8 {
		if len(rows) < flagLeast {
			sortFew(rows)
			return
		}
		shift := max(top-7, 0)
		var ends [256]int
		for i := range rows {
			ends[byte(rows[i].digit()>>shift)]++
		}
		if ends[byte(rows[0].digit()>>shift)] == len(rows) {
			continue // all have the same byte
		}
		r.distribute(rows, shift, &ends)
		return
	}
}

// sortFew puts rows in order of their digits.
func sortFew(rows []ranked) {
	if len(rows) > insertMost {
		slices.SortFunc(rows, func(a, b ranked) int { return cmp.Compare(a.digit(), b.digit()) })
		return
	}
	for i := range rows {
		row := rows[i]
		for i > 0 && rows[i-1].digit() > row.digit() {
			rows[i] = rows[i-1]
			i--
		}
		rows[i] = row
	}
}

// distribute moves rows to the places of their byte at shift, of which ends has the ends, and
// orders the rows of each byte.
func (r *ranker) distribute(rows []ranked, shift int, ends *[256]int) {
	var next [256]int // where the next row of a byte goes
	at := 0
	for b, n := range ends {
		next[b] = at
		at += n
		ends[b] = at
	}
	for b, end := range ends {
		if r.stop.check() {
			return
		}
		for i := next[b]; i < end; i = next[b] {
			row := rows[i]
			for to := byte(row.digit() >> shift); int(to) != b; to = byte(row.digit() >> shift) {
				row, rows[next[to]] = rows[next[to]], row
				next[to]++
			}
			rows[i] = row
			next[b]++
		}
	}
	from := 0
	for _, end := range ends {
		if end-from > 1 {
			r.sort(rows[from:end], shift-1)
		}
		from = end
	}
}
