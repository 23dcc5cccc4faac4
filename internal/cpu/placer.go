package cpu

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/partition"
)

// Placer takes the rows that the device has no room for into buckets of its own. One
// goroutine at a time uses it.
type Placer struct {
	cfg      *Config
	most     int64               // bytes for rows; 0: no limit
	reserved *budget.Reservation // for the first of them
	lent     int64               // bytes of it that pages have
	store    *store
	stands   int64
}

// NewPlacer returns a placer without rows, which may take so many bytes for them; 0: there is no limit.
func NewPlacer(cfg *Config, most int64) *Placer {
	if most > 0 {
		most = max(most, cfg.openPages()) // which are reserved
	}
	p := &Placer{cfg: cfg, most: most, reserved: &budget.Reservation{}}
	p.store = newStore(cfg, placerMemory{p})
	p.store.runs = true
	return p
}

// placerMemory is what pages are drawn from: first what is reserved, to which they are released first.
type placerMemory struct{ p *Placer }

func (m placerMemory) Draw(bytes int64) error {
	p := m.p
	switch {
	case p.most > 0 && p.store.pool.Bytes()+bytes > p.most:
		return errShareUsed
	case p.reserved.Commit(bytes):
		p.lent += bytes
		return nil
	}
	return p.cfg.Budget.Draw(bytes)
}

func (m placerMemory) Release(bytes int64) {
	p := m.p
	if back := min(bytes, p.lent); back > 0 {
		p.lent -= back
		p.reserved.Uncommit(back)
		bytes -= back
	}
	p.cfg.Budget.Release(bytes)
}

// keep leaves to the pages what they have of what was reserved.
func (p *Placer) keep() {
	p.lent = 0
	p.reserved.Close()
}

// Reserve reserves memory for the pages that are being filled, where memory is limited, before there are rows: a placer
// that had none could not put any to disk when others have it all. They are a part of all, if there is as much; nil: there is none.
func (p *Placer) Reserve(all *budget.Reservation) (err error) {
	reserved := all.Split(p.cfg.openPages())
	if reserved == nil {
		reserved, err = p.cfg.Reserve(p.cfg.openPages())
	}
	if err == nil {
		p.reserved = reserved
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
