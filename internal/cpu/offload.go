package cpu

import (
	"errors"
	"time"
)

// This file is how rows go to an accelerator instead of into buckets.
//
// It takes whole rows, which it combines word by word, and does not know the bytes that a ref
// stands for. Where states have refs, to lists of values, it takes no rows, but encoded batches, of
// which it makes rows whose lists are its own.
//
// DEVICE-REFS: in the rows that it compares equal strings have one ref (package key: TEXT-ONCE). So
// it takes no rows of workers with a long string in their key, but encoded batches, in which
// strings get their refs from its own store (texts of package gpu) or from key.Texts; and no
// partition that has rows with a long string from elsewhere: those of workers (Run.Long), or those
// of a block on disk, which has copies.
//
// A group of the accelerator may have rows in buckets too. Unless it holds all rows of the run, its
// groups go to buckets at the end (Finish in package gpu), where rows are compared by the bytes.

// outgoing is the memory that a worker is filling for the accelerator: a tile of rows, or a batch
// of units.
type outgoing struct {
	tile  Tile     // nil: no rows are
	batch bool     // the worker's builder has one
	left  []uint64 // the unused part of the tile's memory
	rows  int      // in it
	stand int64    // input rows that the rows of a tile stand for
}

// errTileSmall makes a batch that no tile has room for be halved.
var errTileSmall = errors.New("a batch has more rows than a tile of the device")

// outgoingRows returns memory of the device for the n rows of the batch; nil: they stay
// on the CPU.
func (w *Worker) outgoingRows(n int) ([]uint64, error) {
	switch {
	case w.run.accelerator == nil:
		return nil, nil
	case w.encoder.HasLong():
		w.run.long.Store(true)
		return nil, nil
	case w.cfg.States.HasRefs() || w.shares():
		return nil, nil
	}
	rows, err := w.allocRows(n)
	if rows != nil {
		w.out.stand += w.in.Stands()
	}
	return rows, err
}

// allocRows returns memory for n rows in a tile, which is made anew if there is too little left in
// the one being filled. nil: the device takes none.
func (w *Worker) allocRows(n int) ([]uint64, error) {
	words := n * w.cfg.Stride
	if words > len(w.out.left) { // as of a batch
		if err := w.submit(); err != nil {
			return nil, err
		}
		t, err := w.run.accelerator.Tile()
		if err != nil {
			return nil, err
		}
		if t == nil {
			return nil, nil
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

// askRows is after how many times the least number of rows on which a table is judged a worker asks
// again whether another run would be faster: some 20 ms. Asking compares counts.
const askRows = 4

// askReconsider asks, every so many rows, whether the run should end for another one.
func (w *Worker) askReconsider() error {
	if w.read-w.pace.next.from < askRows*w.cfg.Table.MinRows {
		return nil
	}
	w.pace.turn(w.read)
	if w.selected == 0 {
		return nil
	}
	seen, shared := w.seen()
	if shared != w.told.shared {
		w.told = told{shared: shared}
	}
	return w.run.reconsider(Sample{
		Read: w.read, Selected: w.selected, Seconds: w.pace.of(w.read), Seen: seen, Half: w.told.half(seen), Shared: shared,
	})
}

// told is what a worker has told when it asked before: half of now, and what came behind.
type told struct {
	since  []Seen
	shared bool // of all workers
}

// half is what it told last of half as many rows as now, or fewer.
func (t *told) half(now Seen) (half Seen) {
	t.since = append(t.since, now)
	for len(t.since) > 1 && t.since[1].Rows <= now.Rows/2 {
		t.since = t.since[1:]
	}
	if first := t.since[0]; first.Rows <= now.Rows/2 {
		half = first
	}
	return half
}

// seen is how many groups the rows of a worker have made: in its table, or in all that it has
// placed; with a distinct value, groups by that too, which may be those of all workers.
func (w *Worker) seen() (s Seen, shared bool) {
	if w.sets == nil {
		return w.made(), false
	}
	set := &w.sets.of[0]
	switch {
	case set.member != nil && !set.member.set.closed.Load():
		read, came, found := set.member.set.counted()
		return Seen{int64(float64(read) * w.selectivity()), came - found}, true
	case set.pairs != nil:
		return Seen{w.selected, int64(set.pairs.n)}, false
	}
	return Seen{w.selected, set.worker.made().Groups}, false
}

// made is how many groups the rows that were added to a worker have made.
func (w *Worker) made() Seen {
	if w.phase == phaseTable && !w.table.inCache() {
		return Seen{w.rows, int64(w.table.n)}
	}
	return Seen{w.selected, int64(w.sketch.Estimate())}
}

// pace is how fast a worker reads, from its first batch on: until that comes files are opened, and
// memory is touched for the first time. Its first milliseconds are slower than the others, so that
// each time it asks the pace is that since it asked before.
type pace struct {
	paceMark
	next paceMark // when it asked, or began
}

// paceMark is a moment.
type paceMark struct {
	since time.Time // zero: no batch has come
	from  int64     // rows that had been read
}

// begin is called with each batch, of whose rows there are so many with those before.
func (p *pace) begin(read int64) {
	if p.since.IsZero() {
		p.next = paceMark{time.Now(), read}
		p.paceMark = p.next
	}
}

// turn is called when the worker is about to ask.
func (p *pace) turn(read int64) { p.paceMark, p.next = p.next, paceMark{time.Now(), read} }

// of is how long so many rows take, in seconds; 0: there has been no second batch.
func (p *pace) of(read int64) float64 {
	if p.since.IsZero() || read <= p.from {
		return 0
	}
	return time.Since(p.since).Seconds() * float64(read) / float64(read-p.from)
}

// submit gives the accelerator what is being filled, unless it holds nothing.
func (w *Worker) submit() error {
	out := w.out
	w.out = outgoing{}
	switch {
	case out.batch && out.rows > 0:
		w.run.sent.Add(int64(out.rows))
		return w.builder.Submit()
	case out.batch:
		w.builder.Release()
	case out.tile != nil && out.rows > 0:
		w.run.sent.Add(out.stand)
		return out.tile.Submit(out.rows)
	case out.tile != nil:
		out.tile.Release()
	}
	return nil
}

// release gives up what is being filled, with its rows.
func (w *Worker) release() {
	switch {
	case w.out.batch:
		w.builder.Release()
	case w.out.tile != nil:
		w.out.tile.Release()
	}
	w.out = outgoing{}
}

// put gives rows, whose hashes have been noted, to the device as far as it takes them, and
// places the others.
func (w *Worker) put(rows []uint64) error {
	if w.run.accelerator == nil || w.cfg.States.HasRefs() || w.isEmpty(rows) || w.shares() {
		w.openBuckets()
		return w.store.place(rows)
	}
	for len(rows) > 0 {
		n, long := w.alike(rows)
		taken := 0
		if long {
			w.run.long.Store(true)
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

// isEmpty reports whether rows are the one group of a query without keys, and no row is in it. An
// accelerator is not asked for a group that stands for nothing.
func (w *Worker) isEmpty(rows []uint64) bool {
	return w.phase == phaseGlobal && w.run.accelerator != nil && w.run.StandFor(rows) == 0
}

// StandFor is how many input rows rows stand for, in a run with an Accelerator.
func (r *Run) StandFor(rows []uint64) (n int64) {
	for c := r.cfg; len(rows) > 0; rows = rows[c.Stride:] {
		n += int64(c.States.Rows(rows))
	}
	return n
}

// Long reports whether rows with long strings are in buckets, beside which devices aggregate no
// partition. It may become true while the input is read.
func (r *Run) Long() bool { return r.long.Load() }

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
		to, err := w.allocRows(n)
		if err != nil || to == nil {
			return words, err
		}
		words += copy(to, rows[words:])
		w.out.stand += w.run.StandFor(to)
	}
	return words, nil
}

// handOver ends the worker's part of the device's work: the rows in its buckets go to the
// device too, so that no group has rows in both places.
func (w *Worker) handOver() error {
	if w.run.accelerator == nil {
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
func (r *Run) offloaded(workers []*Worker) (bool, error) {
	if r.accelerator == nil {
		return false, nil
	}
	used, back, err := r.accelerator.Await()
	if err != nil {
		return false, err
	}
	if r.back = back; len(back) > 0 {
		r.sent.Store(0)
	}
	used = used || r.sent.Load() > 0
	for _, w := range workers {
		used = used || w.out.rows > 0
	}
	if used {
		return true, nil
	}
	for _, w := range workers {
		w.release()
	}
	r.accelerator = nil
	return false, nil
}

// takeBack places a share of the rows that the device does not take.
func (w *Worker) takeBack() error {
	for {
		n := int(w.run.taken.Add(1)) - 1
		if n >= len(w.run.back) {
			return nil
		}
		err := w.store.place(w.run.back[n].Rows)
		w.run.back[n].Release()
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
