package main

import (
	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// strategy is a way from the pairs in work to their groups.
type strategy interface {
	name() string
	// run starts it, and waits only where the strategy itself has to.
	run(s *cuda.Stream) error
	// groups tells where they are, once the stream is done.
	groups() (cuda.Span, uint64, error)
	close() error
}

// Names of strategies in the texts.
const (
	nameProbe     = "probe"     // Table.Add: the baseline
	nameShared    = "shared"    // Table.AddShared
	nameScattered = "scattered" // Scattered
	nameSingle    = "single"    // SinglePass
	nameCUB       = "CUB"       // sort and reduce
)

// tableLoad is how full tables are where that is not what is measured.
const tableLoad = .5

// tables is the strategies by way of a Table.
type tables struct {
	b      *bench
	shared bool
	most   uint64 // groups
	table  *ega.Table
}

func newTables(b *bench, shared bool, groups uint64, load float64) (strategy, error) {
	slots := max(uint32(float64(groups)/load), 1)
	t, err := ega.NewTable(b.k, ega.TableConfig{Slots: slots})
	return &tables{b: b, shared: shared, most: groups, table: t}, err
}

func (t *tables) name() string {
	if t.shared {
		return nameShared
	}
	return nameProbe
}

func (t *tables) run(s *cuda.Stream) error {
	if err := t.table.Clear(s); err != nil {
		return err
	}
	add := t.table.Add
	if t.shared {
		add = func(s *cuda.Stream, rows cuda.Span, n uint64) error { return t.table.AddShared(s, rows, n, t.most) }
	}
	if err := add(s, t.b.work, uint64(t.b.rows)); err != nil {
		return err
	}
	return t.table.Collect(s, t.b.other)
}

func (t *tables) groups() (cuda.Span, uint64, error) {
	c, err := t.table.Count()
	return t.b.other, c.Groups, err
}

func (t *tables) close() error { return t.table.Close() }

// scattered is Scattered.
type scattered struct {
	b      *bench
	s      *reference.Scattered
	result reference.Result
}

func newScattered(b *bench, groups uint64) (strategy, error) {
	s, err := reference.NewScattered(b.k, reference.ScatteredConfig{Rows: b.rows, Groups: groups})
	return &scattered{b: b, s: s}, err
}

func (r *scattered) name() string { return nameScattered }

func (r *scattered) run(s *cuda.Stream) (err error) {
	r.result, err = r.s.Run(s, r.b.work, r.b.other, r.b.rows)
	return err
}

func (r *scattered) groups() (cuda.Span, uint64, error) { return r.result.Rows, r.result.Groups, nil }
func (r *scattered) close() error                       { return r.s.Close() }

// single is SinglePass, whose red buffer takes the place of work.
type single struct {
	b      *bench
	p      *reference.SinglePass
	result reference.Result
}

func newSingle(b *bench) (strategy, error) {
	p, err := reference.NewSinglePass(b.k, reference.SinglePassConfig{Rows: b.rows})
	return &single{b: b, p: p}, err
}

func (r *single) name() string { return nameSingle }

func (r *single) run(s *cuda.Stream) (err error) {
	r.result, err = r.p.Run(s, r.b.rows)
	return err
}

func (r *single) groups() (cuda.Span, uint64, error) { return r.result.Rows, r.result.Groups, nil }
func (r *single) close() error                       { return r.p.Close() }

// prepare brings the pairs to where a strategy wants them.
func prepare(b *bench, r strategy) func(*cuda.Stream) error {
	if s, ok := r.(*single); ok {
		return func(stream *cuda.Stream) error {
			return stream.Copy(s.p.Tile(), b.source.Slice(0, s.p.Tile().Size))
		}
	}
	return b.restore
}
