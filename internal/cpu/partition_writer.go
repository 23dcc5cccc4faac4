package cpu

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/partition"
)

// PartitionWriter takes the rows that the device has no room for into buckets of its own. One
// goroutine at a time uses it.
type PartitionWriter struct {
	run      *Run
	cfg      *Config             // of the run
	most     int64               // bytes for rows; 0: no limit
	reserved *budget.Reservation // for the first of them
	lent     int64               // bytes of it that pages have
	store    *store
	stands   int64
}

// NewPartitionWriter returns a writer without rows, which may draw `most` bytes for them; 0: there
// is no limit.
func (r *Run) NewPartitionWriter(most int64) *PartitionWriter {
	cfg := r.cfg
	if most > 0 {
		most = max(most, cfg.openPages()) // which are reserved
	}
	w := &PartitionWriter{run: r, cfg: cfg, most: most, reserved: &budget.Reservation{}}
	w.store = newStore(cfg, writerMemory{w})
	w.store.runs = true
	return w
}

// writerMemory is what pages are drawn from: first what is reserved, to which they are released
// first.
type writerMemory struct{ w *PartitionWriter }

func (m writerMemory) Draw(bytes int64) error {
	w := m.w
	switch {
	case w.most > 0 && w.store.pool.Bytes()+bytes > w.most:
		return errShareUsed
	case w.reserved.Commit(bytes):
		w.lent += bytes
		return nil
	}
	return w.cfg.Budget.Draw(bytes)
}

func (m writerMemory) Release(bytes int64) {
	w := m.w
	if back := min(bytes, w.lent); back > 0 {
		w.lent -= back
		w.reserved.Uncommit(back)
		bytes -= back
	}
	w.cfg.Budget.Release(bytes)
}

// keep leaves to the pages what they have of what was reserved.
func (w *PartitionWriter) keep() {
	w.lent = 0
	w.reserved.Close()
}

// Reserve reserves memory for the pages that are being filled, where memory is limited, before
// there are rows: a writer that had none could not put any to disk when others have it all. They
// are a part of all, if there is as much; nil: there is none.
func (w *PartitionWriter) Reserve(all *budget.Reservation) (err error) {
	reserved := all.Split(w.cfg.openPages())
	if reserved == nil {
		reserved, err = w.run.Reserve(w.cfg.openPages())
	}
	if err == nil {
		w.reserved = reserved
	}
	return err
}

// Values is where what its rows refer to is put.
func (w *PartitionWriter) Values() *arena.Arena { return w.store.arena }

// Room makes sure of memory for that many bytes of values of the rows that are written next, if
// necessary by writing all rows before them to disk.
func (w *PartitionWriter) Room(bytes int) error { return w.store.reserve(bytes) }

// Rows is how many rows it has taken.
func (w *PartitionWriter) Rows() int64 { return w.store.placed }

// Stands is how many input rows they stand for.
func (w *PartitionWriter) Stands() int64 { return w.stands }

// writeBytes is how much of the rows is looked at and then copied: what stays in a core's first
// cache in between, being half of it.
const writeBytes = 16 << 10

// Write copies rows into buckets, and buckets to disk where memory is short.
func (w *PartitionWriter) Write(rows []uint64) error {
	if w.store.buckets == nil {
		sketch := partition.NewSketch()
		w.cfg.note(sketch, rows)
		w.store.open(0, w.run.choose(sketch.Estimate(), 0, int64(len(rows)/w.cfg.Stride), w.run.rows, 0))
	}
	piece := max(writeBytes/8/w.cfg.Stride, 1) * w.cfg.Stride
	for len(rows) > 0 {
		some := rows[:min(len(rows), piece)]
		w.stands += w.run.StandFor(some)
		if err := w.store.place(some); err != nil {
			return err
		}
		rows = rows[len(some):]
	}
	return nil
}

// Close lets go of the rows.
func (w *PartitionWriter) Close() error {
	w.keep()
	return w.store.close()
}

// Add adds the rows of a writer that has written all of its rows to the groups, which close them.
func (g *Groups) Add(w *PartitionWriter) error {
	w.keep()
	g.stores = append(g.stores, w.store)
	if w.store.buckets == nil {
		return nil
	}
	g.Buckets = append(g.Buckets, w.store.buckets)
	return w.store.whole()
}
