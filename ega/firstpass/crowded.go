package firstpass

import (
	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/streams"
)

// addTile is add for the rows of a tile, whose rest is counted in the facts of its stage. Of the
// first tile it adds some rows alone: if hashes crowd, many of these find no slot although the
// table has plenty. Then it freezes the table, or all other rows would look at growingProbes slots
// each in vain (F10).
func (p *table) addTile(k *ega.Kernels, s *streams.Stage, rows cuda.Span, n uint64, rest kernels.EgaRest) (int, error) {
	if p.tried.Load() || n < 2*tryRows {
		return p.add(s.Stream, rows, n, rest)
	}
	if err := p.try(k, s, rows, rest); err != nil {
		return 0, err
	}
	row := k.Layout.RowBytes()
	return p.add(s.Stream, rows.Slice(tryRows*row, cuda.Size(n)*row), n-tryRows, rest)
}

// try combines the first rows of a tile, waits for them, and freezes the table if they crowd.
func (p *table) try(k *ega.Kernels, s *streams.Stage, rows cuda.Span, rest kernels.EgaRest) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.table == nil {
		return errNoTable
	}
	probes := p.table.View().Probes
	p.table.SetProbes(min(probes, growingProbes))
	err := p.combine(s.Stream, rows, tryRows, rest)
	p.table.SetProbes(probes)
	if err != nil {
		return err
	}
	facts, err := s.Ask()
	if err != nil {
		return err
	}
	p.tried.Store(facts[tileStop] == 0) // else no row was taken
	if !p.frozen && crowded(tryRows, p.slots) && facts[tileRest] >= tryRows/tryMissed {
		p.freeze()
	}
	return nil
}
