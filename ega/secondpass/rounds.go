package secondpass

import "github.com/gagg-dev/gagg/feedback"

// rounds is how far feedback loading of a bucket is: arithmetic only. Numbers of rows are counted
// from its first one.
type rounds struct {
	load  feedback.Load
	taken int64 // rows that were taken
	begin int64 // taken when the round began
	end   int64 // taken when it ends

	counted int64 // of these first rows
	groups  int64 // there were so many groups
	asked   int64 // rows before the count under way; unasked: there is none
}

const unasked = -1

func newRounds(load feedback.Load) rounds {
	return rounds{load: load, end: load.NextLoad(0), asked: unasked}
}

// left is how many more rows this round takes.
func (r *rounds) left() int64 { return r.end - r.taken }

// due says whether it is time to ask for a count.
func (r *rounds) due() bool {
	return r.asked == unasked && r.left() > 0 && dueOf*(r.taken-r.begin) >= dueParts*(r.end-r.begin)
}

// ask notes that a count is under way, after the rows taken so far.
func (r *rounds) ask() { r.asked = r.taken }

// answer is what that count came to.
func (r *rounds) answer(groups int64) { r.counted, r.groups, r.asked = r.asked, groups, unasked }

// exact says whether all rows taken have been counted.
func (r *rounds) exact() bool { return r.counted == r.taken }

// most is how many groups there may be: all rows since the count may be new ones.
func (r *rounds) most() int64 { return r.groups + r.taken - r.counted }

// next begins another round when one has ended, of as many rows as surely find room. false: the
// table may be full, and is if the count was exact.
func (r *rounds) next() bool {
	n := r.load.NextLoad(r.most())
	r.begin, r.end = r.taken, r.taken+n
	return n > 0
}

// estimate is how many groups the next rows may have, for Table.AddShared: what was counted, or
// else as many as the table takes, by which frequent keys still meet in shared memory.
func (r *rounds) estimate() uint64 {
	if r.counted == 0 {
		return uint64(r.load.NextLoad(0))
	}
	return uint64(r.groups)
}
