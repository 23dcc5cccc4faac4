package cpu

import (
	"context"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/encoded"
)

// This file is all that the executor knows of a device: an [Accelerator], and what it hands out.
// The executor calls it, internal/gpu implements it, and nothing that was handed out is given back
// to be told what it is: what the accelerator has to know of it later, it keeps.
//
//	in hand of   while          is
//	a worker     it reads       a Tile that it fills with rows; a BatchBuilder, which fills one with encoded units
//	a run        at the end     Returned: rows for which no device came
//	a merger     it merges      a Resident, or a Pass and EvictedSpans
//
// An error of any call ends the run: the groups are closed, and the run that made the accelerator
// decides whether the input is read again (DEVICE-VOID in package gpu). The executor does not look
// into errors.

// Accelerator aggregates rows in the workers' stead, word by word (package ega/combine). A run has
// one only if its states can be combined like that and count their rows, so that it can be told
// whether all of them come back. All workers use it at once.
type Accelerator interface {
	// Absent reports whether there is none after all, so that workers aggregate all rows. It may
	// become true later. It returns at once.
	Absent() bool

	// Opening reports whether it is being opened. It returns at once.
	Opening() bool

	// Tile waits for memory to fill with rows. nil: the accelerator takes none, or none yet, and
	// rows stay on the CPU. A worker has one at a time, and holds none while it waits for another.
	Tile() (Tile, error)

	// Await is called once, when no worker reads any more. If the accelerator must have a part in
	// the run, or has one, it waits for it, and the rows on the CPU go there. If it turns out that
	// there is none, back are the rows that it was given, the caller's from now on.
	Await() (must bool, back []Returned, err error)

	// Declined waits until it is known of all encoded batches submitted so far whether they are
	// taken, and returns a unit of one that is not, each unit once; -1: there is none left. Before
	// it returns a unit the accelerator has told Run.Unsent of the batch.
	Declined(ctx context.Context) (unit int, err error)

	// Groups is about how many groups the accelerator has, once no batch is under way; 0: not
	// known.
	Groups() float64
}

// Sample is what a worker has seen of the input: how many rows it has read, how many of them passed
// the filter, and how many groups some of these made. Seconds is how long so many rows take at its
// pace; 0: not known.
type Sample struct {
	Read, Selected int64
	Seconds        float64

	Seen        // groups of its table mostly, or those by the keys and a distinct value
	Half   Seen // the same earlier, of about half of the rows or fewer; zero: not known
	Shared bool // Seen and Half are of all workers, whose groups are one set
}

// Seen is how many groups some rows have made.
type Seen struct{ Rows, Groups int64 }

// Tile is memory of the accelerator's that one worker fills with rows. It is the accelerator's
// again with Submit or Release, one of which is called, once.
type Tile interface {
	Words() []uint64       // for whole rows
	Submit(rows int) error // the first of them, at least one
	Release()
}

// BatchBuilder puts units, as they lie in their files, into memory of the accelerator, several of
// them into one encoded batch, of which the accelerator makes the rows. One a worker, whose reader
// is idle meanwhile. The calls are Begin, Add for each unit, and Submit or Release, which let go of
// the memory.
type BatchBuilder interface {
	// Busy reports whether the accelerator has enough to do for as long as a unit takes to be put
	// into a batch, or takes none yet. It returns at once.
	Busy() bool
	// Begin waits for memory and begins a batch there. false: the accelerator takes none now.
	Begin() (bool, error)
	// Add puts a unit into the batch; rows is how many it has, also if it is not put there. An
	// error ends the run, and the batch is as it was.
	Add(unit int) (rows int64, added encoded.Added, err error)
	// RowBytes is how many bytes a row of a unit has in its file, about.
	RowBytes(unit int) float64
	// Computes reports whether Add computes something of texts, which takes a worker as long as to
	// read rows.
	Computes() bool
	// Submit gives the batch, which has rows, to the accelerator.
	Submit() error
	Release()
}

// Returned is rows that the accelerator was given and does not take. Release is called once, and
// lets go of their memory.
type Returned struct {
	Rows    []uint64
	Release func()
}

// Resident is the groups that the accelerator holds, for one merger, whose it is to close. They
// have no rows anywhere else.
type Resident interface {
	// Read calls emit with the groups of partition p, in pieces that follow each other in order of
	// hash; each piece is in order too, or nearly so. It is valid until emit returns. What rows
	// refer to is put into values.
	Read(p int, values *arena.Arena, emit func(rows []uint64) error) error
	Close() error
}

// Pass aggregates the rows of one bucket at a time, for one merger, whose it is to close: the
// second pass of EGA (paper 003, §4.2).
type Pass interface {
	Capacity() int64 // groups that it has room for
	// of a bucket of about that many rows, whose hashes share their top skip bits
	Begin(skip uint, rows int64) error
	Add(rows []uint64) (taken int, err error) // copies rows, until it has no room for more groups
	// gives the groups of the rows taken, nearly in order of hash
	End(emit func(rows []uint64) error) error
	Close() error
}

// EvictedSpan is rows of the accelerator's that lie in pinned memory, handed out to one merger.
type EvictedSpan interface {
	// Rows is the rows, to be looked at before any is loaded.
	Rows() []uint64
	// Load has the merger's Pass load them, and says how many it took: fewer than all if it has
	// room for no more groups. They must stay as they are until its End.
	Load() (taken int, err error)
	// Rest is the rows from number `from` on, which the CPU combines: they may be changed.
	Rest(from int) ([]uint64, error)
	// Release is called once, when they are not needed any more. It may free memory.
	Release() error
}
