package cpu

import (
	"context"
	"errors"
)

// This file is how rows go to a device instead of into buckets.
//
// A device takes whole rows, which it combines word by word: those without a
// long string in their key, since it does not know the bytes that a ref stands
// for. A query has an Offload only if its states can be combined like that,
// and count their rows, so that it can be told whether all of them come back.
// Where states have refs, to lists of values, it takes no rows, but parcels, of
// which it makes rows whose lists are its own.
//
// DEVICE-DISJOINT: the key of a row with a long string is never the key of a row
// without one. So groups on the device and groups in buckets are different
// ones as soon as the buckets hold rows with long strings alone; Finish sees to
// that, unless rows have gone to disk.

// Offload is a device that aggregates rows in the workers' stead. All workers
// use it at once.
type Offload interface {
	// Pays reports whether a worker should give up its table, in which rows made so many
	// groups, for the device. It may become true later.
	Pays(rows, groups int64) bool
	// Tile waits for memory to fill with rows. nil: the device takes none, or none
	// yet, and rows stay on the CPU.
	Tile() (Tile, error)
	// Await is called at the end of the input. If the device must have a part in the run, or has one, it waits for
	// it, and the rows on the CPU go there. If it turns out that there is none, back are the rows that it was given.
	Await() (must bool, back []Returned, err error)
	// Declined waits until it is known of all parcels submitted so far whether the device takes them, and returns a unit
	// of one that it declines, each unit once; -1: there is none left.
	Declined(ctx context.Context) (unit int, err error)
	// Groups is about how many groups the device has, once no parcel is under way; 0: nobody knows.
	Groups() float64
}

// Returned is rows that the device was given and does not take.
type Returned interface {
	Rows() []uint64
	Release() // their memory
}

// Tile is memory of the device's that one worker fills, with rows or with a parcel.
type Tile interface {
	Words() []uint64           // for rows
	Bytes() []byte             // for a parcel; none: the device makes no rows
	Submit(rows int) error     // at least one; the tile is the device's again, as by Release
	SubmitParcel(Parcel) error // the same; the parcel has rows
	Release()
}

// outgoing is the tile that a worker is filling.
type outgoing struct {
	tile   Tile     // nil: none
	parcel bool     // it is the packer's
	left   []uint64 // what is left of its memory, for rows
	rows   int      // in it
	stand  int64    // input rows that they stand for, of a tile of rows
}

// errTileSmall makes a batch that no tile has room for be halved.
var errTileSmall = errors.New("a batch has more rows than a tile of the device")

// outgoingRows returns memory of the device for the n rows of the batch; nil: they stay
// on the CPU.
func (w *Worker) outgoingRows(n int) ([]uint64, error) {
	switch {
	case w.cfg.Offload == nil:
		return nil, nil
	case w.encoder.HasLong():
		w.cfg.long.Store(true)
		return nil, nil
	case w.cfg.States.HasRefs():
		return nil, nil
	}
	rows, err := w.take(n)
	if rows != nil {
		w.out.stand += w.in.Stands()
	}
	return rows, err
}

// take returns memory for n rows in a tile, which is made anew if there is too little left in
// the one being filled. nil: the device takes none.
func (w *Worker) take(n int) ([]uint64, error) {
	words := n * w.cfg.Stride
	if words > len(w.out.left) { // as of a parcel
		if err := w.submit(); err != nil {
			return nil, err
		}
		t, err := w.cfg.Offload.Tile()
		if err != nil || t == nil {
			return nil, err
		}
		w.out = outgoing{tile: t, left: t.Words()}
		if words > len(w.out.left) {
			return nil, &overload{errTileSmall}
		}
	}
	rows := w.out.left[:words:words]
	w.out.left = w.out.left[words:]
	w.out.rows += n
	return rows, nil
}

// submit gives the device the tile that is being filled, unless it holds nothing.
func (w *Worker) submit() error {
	out := w.out
	w.out = outgoing{}
	switch {
	case out.tile == nil:
		return nil
	case out.rows == 0:
		out.tile.Release()
		return nil
	}
	if out.parcel {
		p := w.packer.Parcel()
		w.cfg.sent.Add(int64(p.Rows()))
		return out.tile.SubmitParcel(p)
	}
	w.cfg.sent.Add(out.stand)
	return out.tile.Submit(out.rows)
}

// release gives up the tile that is being filled, with its rows.
func (w *Worker) release() {
	if w.out.tile != nil {
		w.out.tile.Release()
	}
	w.out = outgoing{}
}

// put gives rows, whose hashes have been noted, to the device as far as it takes them, and
// places the others.
func (w *Worker) put(rows []uint64) error {
	if w.cfg.Offload == nil || w.cfg.States.HasRefs() {
		w.openBuckets()
		return w.store.place(rows)
	}
	for len(rows) > 0 {
		n, long := w.alike(rows)
		taken := 0
		if long {
			w.cfg.long.Store(true)
		} else {
			var err error
			if taken, err = w.send(rows[:n]); err != nil {
				return err
			}
		}
		if taken < n {
			w.openBuckets()
			if err := w.store.place(rows[taken:n]); err != nil {
				return err
			}
		}
		rows = rows[n:]
	}
	return nil
}

// StandFor is how many input rows rows stand for, in a run with an Offload.
func (c *Config) StandFor(rows []uint64) (n int64) {
	for ; len(rows) > 0; rows = rows[c.Stride:] {
		n += int64(c.States.Rows(rows))
	}
	return n
}

// Long reports whether rows with long strings are in buckets, beside which devices aggregate no partition. It may become
// true while the input is read.
func (c *Config) Long() bool { return c.long.Load() }

// alike is how many words of rows come before the first row that has long strings while the
// first has none, or the other way around.
func (w *Worker) alike(rows []uint64) (words int, long bool) {
	if !w.cfg.Keys.HasRefs() {
		return len(rows), false
	}
	stride := w.cfg.Stride
	long = w.cfg.Keys.AnyLong(rows, w.cfg.Keys.Base())
	for words = stride; words < len(rows) && w.cfg.Keys.AnyLong(rows[words:], 1) == long; {
		words += stride
	}
	return words, long
}

// send copies rows without long strings to tiles. It returns how many words the device
// has taken.
func (w *Worker) send(rows []uint64) (words int, err error) {
	stride := w.cfg.Stride
	for words < len(rows) {
		n := max(min(len(rows)-words, len(w.out.left))/stride, 1)
		to, err := w.take(n)
		if err != nil || to == nil {
			return words, err
		}
		words += copy(to, rows[words:])
		w.out.stand += w.cfg.StandFor(to)
	}
	return words, nil
}

// handOver ends the worker's part of the device's work: what it has placed goes to the
// device too, so that no group has rows in both places.
func (w *Worker) handOver() error {
	if w.cfg.Offload == nil {
		return nil
	}
	if !w.cfg.States.HasRefs() {
		if err := w.drain(); err != nil {
			return err
		}
	}
	return w.submit()
}

// offloaded reports whether the device was given rows, or will be when the workers finish.
// If not, it is done without from now on.
func (c *Config) offloaded(workers []*Worker) (bool, error) {
	if c.Offload == nil {
		return false, nil
	}
	used, back, err := c.Offload.Await()
	if err != nil {
		return false, err
	}
	if c.back = back; len(back) > 0 {
		c.sent.Store(0)
	}
	used = used || c.sent.Load() > 0
	for _, w := range workers {
		used = used || w.out.rows > 0
	}
	if used {
		return true, nil
	}
	for _, w := range workers {
		w.release()
	}
	c.Offload = nil
	return false, nil
}

// takeBack places a share of the rows that the device does not take.
func (w *Worker) takeBack() error {
	for {
		n := int(w.cfg.taken.Add(1)) - 1
		if n >= len(w.cfg.back) {
			return nil
		}
		err := w.store.place(w.cfg.back[n].Rows())
		w.cfg.back[n].Release()
		if err != nil {
			return err
		}
	}
}

// drain gives the device what lies in buckets, unless a part is on disk: then the rest goes
// the same way as that.
func (w *Worker) drain() error {
	s := w.store
	for p := range s.buckets.Partitions() {
		if len(s.buckets.Blocks(p)) > 0 {
			return nil
		}
	}
	old := s.buckets
	s.open(0, old.Bits())
	s.placed = 0
	var pages [][]uint64
	for p := range old.Partitions() {
		pages = old.Pages(pages[:0], p)
		for _, page := range pages {
			if err := w.put(page); err != nil {
				return err
			}
		}
		old.Release(p)
	}
	return nil
}
