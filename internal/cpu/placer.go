package cpu

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/partition"
)

// Placer takes the rows that the device has no room for into buckets of its own. One
// goroutine at a time uses it.
type Placer struct {
	cfg    *Config
	most   int64  // bytes for rows; 0: no limit
	aside  *Aside // for the first of them
	lent   int64  // bytes of it that pages have
	store  *store
	stands int64
}

// NewPlacer returns a placer without rows, which may take so many bytes for them; 0: there is no limit.
func NewPlacer(cfg *Config, most int64) *Placer {
	if most > 0 {
		most = max(most, cfg.openPages()) // which are set aside
	}
	p := &Placer{cfg: cfg, most: most, aside: &Aside{}}
	p.store = newStore(cfg, p.ask)
	p.store.runs = true
	return p
}

// ask takes memory for pages, first of what is set aside, or gives it back, first to that.
func (p *Placer) ask(bytes int64) error {
	switch {
	case bytes > 0 && p.most > 0 && p.store.pool.Bytes()+bytes > p.most:
		return &RefusedError{errShareUsed}
	case bytes > 0 && p.aside.Take(bytes):
		p.lent += bytes
		return nil
	case bytes < 0 && p.lent > 0:
		back := min(-bytes, p.lent)
		p.lent -= back
		p.aside.Put(back)
		bytes += back
	}
	return asking(p.cfg.Grow)(bytes)
}

// keep leaves to the pages what they have of what was set aside.
func (p *Placer) keep() {
	p.lent = 0
	p.aside.Close()
}

// Reserve sets memory aside for the pages that are being filled, where memory is limited, before there are rows: a placer
// that had none could not put any to disk when others have it all. They are a part of all, if there is as much; nil: there is none.
func (p *Placer) Reserve(all *Aside) (err error) {
	aside := all.Split(p.cfg.openPages())
	if aside == nil {
		aside, err = p.cfg.SetAside(p.cfg.openPages())
	}
	if err == nil {
		p.aside = aside
	}
	return err
}

// Values is where what its rows refer to is put.
func (p *Placer) Values() *arena.Arena { return p.store.arena }

// Room makes sure of memory for so many bytes of values of rows that are placed next, if need be by putting all that were placed to disk.
func (p *Placer) Room(bytes int) error { return p.store.reserve(bytes) }

// Rows is how many rows it has taken.
func (p *Placer) Rows() int64 { return p.store.placed }

// Stands is how many input rows they stand for.
func (p *Placer) Stands() int64 { return p.stands }

// placeBytes is how much of the rows is looked at and then copied: what stays in a core's first cache in between. A guess.
const placeBytes = 16 << 10

// Place copies rows into buckets, and buckets to disk where memory is short.
func (p *Placer) Place(rows []uint64) error {
	if p.store.buckets == nil {
		sketch := partition.NewSketch()
		p.cfg.note(sketch, rows)
		p.store.open(0, p.cfg.choose(sketch.Estimate(), 0, int64(len(rows)/p.cfg.Stride), p.cfg.Rows, 0))
	}
	piece := max(placeBytes/8/p.cfg.Stride, 1) * p.cfg.Stride
	for len(rows) > 0 {
		some := rows[:min(len(rows), piece)]
		p.stands += p.cfg.StandFor(some)
		if err := p.store.place(some); err != nil {
			return err
		}
		rows = rows[len(some):]
	}
	return nil
}

// Close lets go of the rows.
func (p *Placer) Close() error {
	p.keep()
	return p.store.close()
}

// Take adds the rows of a placer, which is done, to the groups. They are closed with them.
func (g *Groups) Take(p *Placer) error {
	p.keep()
	g.stores = append(g.stores, p.store)
	if p.store.buckets == nil {
		return nil
	}
	g.Buckets = append(g.Buckets, p.store.buckets)
	return p.store.whole()
}
