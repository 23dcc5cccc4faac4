package firstpass

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/streams"
)

// table is the table of all lanes of a Pass. Kernels of several streams combine into it at the same
// time, as blocks of one kernel do.
type table struct {
	plan    *plan
	kernels *ega.Kernels
	groups  uint64 // an estimate of the caller's; 0: not known
	limit   uint64 // Config.Limit, and Lower
	lower   func(hash uint64)

	tiles    atomic.Uint64 // that were added
	seen     atomic.Uint64 // groups at the last count; 0: none was made
	strategy strategy
	tried    atomic.Bool // some rows were combined, and it is known whether hashes crowd

	mu     sync.RWMutex // SHARED
	table  *ega.Table   // nil if growing failed
	slots  uint32
	epoch  int // how often it grew
	frozen bool
}

// errNoTable is the error of the other lanes when one lane could not grow the table.
var errNoTable = errors.New("the table is gone")

func (p *table) open(k *ega.Kernels, plan *plan, groups uint64) error {
	p.plan, p.kernels, p.groups = plan, k, groups
	s, err := k.Thread.NewStream()
	if err != nil {
		return err
	}
	err = p.make(k, s, plan.slots)
	return errors.Join(err, s.Close())
}

// make makes an empty table in place of the last one, which was closed.
func (p *table) make(k *ega.Kernels, s *cuda.Stream, slots uint32) (err error) {
	if p.table, err = ega.NewTable(k, ega.TableConfig{Slots: slots, Probes: p.plan.probes(slots)}); err != nil {
		return err
	}
	p.slots = slots
	if err := p.table.Clear(s); err != nil {
		return errors.Join(err, s.Synchronize(), p.close())
	}
	return nil
}

// add queues the combination of rows. It returns the epoch of the table.
func (p *table) add(s *cuda.Stream, rows cuda.Span, n uint64, rest kernels.EgaRest) (int, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.table == nil {
		return 0, errNoTable
	}
	return p.epoch, p.combine(s, rows, n, rest)
}

// combine is add by the current strategy. The caller holds the table's mutex.
func (p *table) combine(s *cuda.Stream, rows cuda.Span, n uint64, rest kernels.EgaRest) error {
	plan := p.kernels.PlanShared(p.estimate())
	if !p.strategy.preaggregates(plan) {
		return p.table.AddRest(s, rows, n, rest)
	}
	if !plan.Crowded {
		rest.Sent = 0 // the number of rows sent on is not used
	}
	return p.table.AddPlanned(s, rows, n, plan, rest)
}

// estimate is how many groups blocks should expect: twice the last count or, before the first
// count, what the caller expects or the table has room for. The caller holds the table's mutex.
func (p *table) estimate() uint64 {
	if seen := p.seen.Load(); seen > 0 {
		return 2 * seen
	}
	if p.groups > 0 && p.epoch == 0 {
		return p.groups
	}
	return uint64(ega.TableLoad * float64(p.slots))
}

// count queues a count of the groups behind every tile whose number is a power of two: reading all
// slots takes long where there are many, and an estimate half as large does no harm. Where only
// the first groups are wanted, it looks for a hash that enough groups do not exceed. observe reads
// both.
func (p *table) count(s *streams.Stage) error {
	if n := p.tiles.Add(1); n&(n-1) != 0 {
		return nil
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.table == nil {
		return errNoTable
	}
	if p.limit > 0 {
		if err := p.table.FirstHash(s.Stream, p.limit, fact(s, tileBeyond)); err != nil {
			return err
		}
	}
	return p.table.CountGroups(s.Stream, fact(s, tileGroups))
}

// observe reads the facts of a tile with that many rows: how many groups the table has, if they
// were counted, and how many rows or groups blocks have sent on. Other lanes may add meanwhile.
func (p *table) observe(rows uint64, facts []uint64) {
	if groups := facts[tileGroups]; groups > 0 {
		p.seen.Store(groups)
	}
	if beyond := facts[tileBeyond]; beyond > 0 {
		p.lower(^beyond)
	}
	p.strategy.noteSent(rows, facts[tileSent])
}

// exact is how many groups there are now. Other lanes queue nothing meanwhile.
func (p *table) exact(k *ega.Kernels, s *cuda.Stream) (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.table == nil {
		return 0, errNoTable
	}
	return p.read(k, s)
}

// grow makes the table larger because rows that were added in an epoch found no slot. It returns
// true if the rows should be added again; another lane may have grown the table meanwhile. It
// returns false if the table never grows again.
func (p *table) grow(k *ega.Kernels, s *cuda.Stream, epoch int) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.table == nil:
		return false, errNoTable
	case p.frozen:
		return false, nil
	case p.epoch != epoch:
		return true, nil
	}
	groups, err := p.settled(k, s)
	if err != nil {
		return false, err
	}
	slots := p.plan.next(p.slots, groups)
	if slots == 0 || crowded(groups, p.slots) {
		p.freeze()
		return false, nil
	}
	if err := p.move(k, s, groups, slots); err != nil {
		return false, fmt.Errorf("grow the table to %d slots: %w", slots, err)
	}
	p.epoch++
	return true, nil
}

// crowded reports whether rows found no slot although the table is far from full. Then their
// hashes begin with the same bits, as those of hostile keys may (F10), and a larger table would
// not help.
func crowded(groups uint64, slots uint32) bool { return groups < uint64(slots)/crowdedPart }

// read reads the number of groups. The caller holds the mutex.
func (p *table) read(k *ega.Kernels, s *cuda.Stream) (uint64, error) {
	p.table.Move(k.Thread)
	return p.table.Groups(s)
}

// settled counts the groups when all work of the context has ended.
func (p *table) settled(k *ega.Kernels, s *cuda.Stream) (uint64, error) {
	if err := k.Thread.Synchronize(); err != nil {
		return 0, err
	}
	return p.read(k, s)
}

// freeze keeps the table as it is for good. Rows look at fewer slots from now on, except where
// there are lists. A row whose group lies farther away goes to the rest, which is allowed
// (ONE-PLACE). With lists it would decline a whole job.
func (p *table) freeze() {
	p.frozen = true
	if p.plan.lists {
		return
	}
	p.table.SetProbes(min(p.table.View().Probes, frozenProbes))
}

// move moves all groups to a table with that many slots.
func (p *table) move(k *ega.Kernels, s *cuda.Stream, groups uint64, slots uint32) (err error) {
	dense, err := p.dense(k, s, groups)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Synchronize(), dense.Close()) }()
	old := p.slots
	err = p.make(k, s, slots)
	if errors.Is(err, cuda.ErrOutOfMemory) { // another process has it: keep the old size
		err = p.make(k, s, old)
		p.frozen = true
	}
	if err != nil {
		return err
	}
	probes := p.table.SetProbes(p.slots) // a group that has a slot keeps one
	err = p.table.Add(s, dense.Span(), groups)
	p.table.SetProbes(probes)
	return err
}

// dense makes the groups dense, in memory of their own, and closes the table. Nothing is under way.
func (p *table) dense(k *ega.Kernels, s *cuda.Stream, groups uint64) (*cuda.Memory, error) {
	dense, err := k.Thread.Alloc(cuda.Size(max(groups, 1)) * k.Layout.RowBytes())
	if err != nil {
		return nil, err
	}
	if err = errors.Join(p.table.Collect(s, dense.Span()), s.Synchronize()); err == nil {
		err = p.close()
	}
	if err != nil {
		return nil, errors.Join(err, dense.Close())
	}
	return dense, nil
}

// detach returns the table with its groups, which the pass no longer owns.
func (p *table) detach() (*ega.Table, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.table == nil {
		return nil, errNoTable
	}
	table := p.table
	p.table = nil
	return table, nil
}

// size is how many slots there are.
func (p *table) size() uint32 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.slots
}

func (p *table) close() error {
	if p.table == nil {
		return nil
	}
	table := p.table
	p.table = nil
	return table.Close()
}
