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
	if n >= 2*tryRows && !p.tried.Load() {
		tried, err := p.try(k, s, rows, rest)
		if err != nil {
			return 0, err
		}
		if tried {
			row := k.Layout.RowBytes()
			rows, n = rows.Slice(tryRows*row, cuda.Size(n)*row), n-tryRows
		}
	}
	return p.add(s.Stream, rows, n, rest)
}

// try combines the first rows of a tile, waits for them, and freezes the table if they crowd. It
// returns false, and does nothing, if the rows of another lane were tried while it waited for the
// lock: the rows of that lane may fill the table now.
func (p *table) try(k *ega.Kernels, s *streams.Stage, rows cuda.Span, rest kernels.EgaRest) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.table == nil {
		return false, errNoTable
	}
	if p.tried.Load() {
		return false, nil
	}
	probes := p.table.View().Probes
	p.table.SetProbes(min(probes, growingProbes))
	err := p.combine(s.Stream, rows, tryRows, rest)
	p.table.SetProbes(probes)
	if err != nil {
		return false, err
	}
	facts, err := s.Ask()
	if err != nil {
		return false, err
	}
	p.tried.Store(facts[tileStop] == 0) // else no row was taken
	if p.frozen || facts[tileRest] < tryRows/tryMissed {
		return true, nil
	}
	// tiles that were too small to be tried may have filled the table before
	groups, err := p.settled(k, s.Stream)
	if err == nil && crowded(groups, p.slots) {
		p.freeze()
	}
	return true, err
}
