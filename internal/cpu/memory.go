package cpu

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/partition"
)

// This file is how memory is asked for; the package comment tells what each
// refusal leads to.

// LargeError is a refusal of the memory for the values of one row.
type LargeError struct {
	Text int64 // bytes of the longest of them
	Err  error
}

func (e *LargeError) Error() string { return e.Err.Error() }
func (e *LargeError) Unwrap() error { return e.Err }

// refused reports whether err says that there is no memory, of the budget or of a part of it.
func refused(err error) bool { return errors.Is(err, budget.Memory) }

// pages lends the memory of pages: up to the worker's share. Without shares, a
// worker that is ahead would leave none to one that has just begun.
//
// The share may have become less than the worker has (Run.share), or one row more. It gets a few
// pages all the same, by way of which it empties the table into buckets, and these to disk.
func (w *Worker) pages() budget.Lender {
	return budget.Checked(w.cfg.Budget, func(bytes int64) error {
		least := w.bytes() - w.store.pool.Bytes() + 2*partition.LeastBytes
		return w.within(max(w.run.share(), least), bytes)
	})
}

// leastShare is the divisor of Memory.Worker that gives the part which cannot be reserved: with it
// a worker can still write rows to disk. The other three quarters may be reserved: devices pin one,
// and the rows of their writers have two.
const leastShare = 4

// Reserve reserves memory for an owner that cannot go on without it. The budget may refuse it, and
// so does a limit on all reservations, MostReserved: it leaves each worker its least share, since
// readers cannot go on without memory either.
func (r *Run) Reserve(bytes int64) (*budget.Reservation, error) {
	return r.reserved.Reserve(r.cfg.Budget, bytes, r.MostReserved(), errShareUsed)
}

// MostReserved is how many bytes may be reserved at a time; 0: there is no limit.
func (r *Run) MostReserved() int64 {
	all := r.cfg.Memory.Worker * int64(max(r.cfg.Threads, 1))
	return all - all/leastShare
}

// share is the most memory that a worker may draw: Memory.Worker less its part of the reservations.
// Without this limit a worker would go on until the budget refuses, and then write rows to disk;
// but readers, which cannot write to disk, would be refused too. 0: there is no limit.
func (r *Run) share() int64 {
	all := r.cfg.Memory.Worker
	return max(all-r.reserved.Bytes()/int64(max(r.cfg.Threads, 1)), all/leastShare)
}

// tableMemory lends the memory of the table. The table and the values to which
// groups refer leave room for a page of each partition, without which they could
// not be emptied into buckets.
func (w *Worker) tableMemory() budget.Lender {
	return budget.Checked(w.cfg.Budget, func(bytes int64) error { return w.within(w.tableRoom(), bytes) })
}

func (w *Worker) tableRoom() int64 {
	share := w.run.share()
	return max(share-w.cfg.openPages()-partition.LeastBytes, share/4)
}

// within refuses what would make the worker take more than most bytes.
func (w *Worker) within(most, bytes int64) error {
	if w.cfg.Memory.Worker > 0 && w.bytes()+bytes > most {
		return errShareUsed
	}
	return nil
}

var errShareUsed = &budget.Error{Why: "the memory of a worker is used up"}

// bytes is the memory that the worker's groups take.
func (w *Worker) bytes() int64 {
	n := w.store.bytes() + w.batchHeld
	if w.table != nil {
		n += w.table.held
	}
	return n
}

// room makes sure of memory for values of that size.
func (w *Worker) room(bytes int) error {
	if bytes >= longFrom {
		if err := w.noteTexts(); err != nil {
			return err
		}
	}
	if err := w.fits(w.store.arena.Growth(bytes)); err != nil {
		return err
	}
	return w.store.room(bytes)
}

// longFrom is how many bytes of values a batch has at least for the length of its texts to be
// looked at, which then costs little beside copying them.
const longFrom = 4 << 20

// noteTexts calls Config.LongText with the longest text of the batch, if none was longer.
func (w *Worker) noteTexts() error {
	n := w.longest()
	for most := w.run.longest.Load(); n > most; most = w.run.longest.Load() {
		if !w.run.longest.CompareAndSwap(most, n) {
			continue
		}
		if w.cfg.LongText != nil {
			return w.cfg.LongText(n)
		}
	}
	return nil
}

// longest is the bytes of the longest text among the keys and arguments of the batch.
func (w *Worker) longest() (n int64) {
	for _, vectors := range [][]column.Vector{w.keys, w.in.Args} {
		for i := range vectors {
			v := &vectors[i]
			if v.Dict != nil {
				v = &v.Dict.Values
			}
			for _, s := range v.Span[:min(v.Len, len(v.Span))] {
				n = max(n, int64(s.Len))
			}
		}
	}
	return n
}

// fits refuses what would not leave the worker the memory to put its groups
// to disk. A single row always fits: it cannot be halved.
func (w *Worker) fits(bytes int64) error {
	most := w.run.share()
	if most > 0 && w.in.Rows > 1 && w.bytes()+bytes+w.store.exit(w.cfg.openPages()) > most {
		return errShareUsed
	}
	return nil
}

// overload is a refusal of what the rows of one batch need, all memory that
// could be made free being free. None of them has been taken.
type overload struct{ cause error }

func (e *overload) Error() string { return e.cause.Error() }
func (e *overload) Unwrap() error { return e.cause }
