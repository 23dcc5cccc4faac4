package secondpass

import "github.com/gagg-dev/gagg/feedback"

// rounds is the state of feedback loading of one bucket. It is arithmetic only. Rows are numbered
// from the first one of the bucket.
type rounds struct {
	load  feedback.Load
	taken int64 // rows that were taken
	begin int64 // taken when the round began
	end   int64 // taken when it ends

	counted int64 // of these first rows
	groups  int64 // groups that these rows had made
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

// answer notes the result of that count.
func (r *rounds) answer(groups int64) { r.counted, r.groups, r.asked = r.asked, groups, unasked }

// exact says whether the count covers all rows that were taken.
func (r *rounds) exact() bool { return r.counted == r.taken }

// most is how many groups there may be: all rows since the count may be new ones.
func (r *rounds) most() int64 { return r.groups + r.taken - r.counted }

// next begins another round when one has ended, of as many rows as certainly find a slot. It
// returns false if the table may be full; it is full if the count was exact.
func (r *rounds) next() bool {
	n := r.load.NextLoad(r.most())
	r.begin, r.end = r.taken, r.taken+n
	return n > 0
}

// estimate is the number of groups that Table.AddShared should expect of the next rows: the last
// count or, without one, as many as the table takes. Frequent keys still meet in shared memory
// then.
func (r *rounds) estimate() uint64 {
	if r.counted == 0 {
		return uint64(r.load.NextLoad(0))
	}
	return uint64(r.groups)
}
