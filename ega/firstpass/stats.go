package firstpass

import (
	"fmt"
	"sync"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/streams"
)

// Stats is what a Pass has done. It is complete once Finish has returned.
type Stats struct {
	Streams streams.Stats
	Rows    uint64 // submitted; of jobs of SubmitMade those that were taken

	Slots   uint32 // of the table
	Growths int    // how often it grew
	Groups  uint64 // in it at the end
	// tiles whose rows went to the table one by one, as blocks would have combined hardly any
	Direct uint64
	InCore bool // they are in Groups

	// rows that went to chains: the table had no slot and could not grow, or was bypassed
	RestRows uint64
	Bypassed int // tiles that went to chains without a look at the table
	evict.Stats
}

// counts is the part of the stats that lanes add up.
type counts struct {
	mu      sync.Mutex
	settled uint64 // rows whose jobs are done: it is known how many were of the rest
	Stats
}

func (c *counts) add(what func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what()
}

func (c *counts) bypassed() { c.add(func() { c.Bypassed++ }) }

// settle counts rows that are done, and those of them that are in the rest.
func (c *counts) settle(rows, rest uint64) {
	c.add(func() {
		c.settled += rows
		c.RestRows += rest
	})
}

// end notes the counts at the end of the pass.
func (c *counts) end(groups uint64, inCore bool) {
	c.add(func() { c.Groups, c.InCore = groups, inCore })
}

// TableGroups counts the groups in the table, before Finish, and waits for the count. It may miss
// groups of jobs under way. Rows that went to chains (Stats().RestRows) may have any number of
// further groups.
func (m *Pass) TableGroups() (groups uint64, err error) {
	err = m.context.OnStream(func(t *cuda.Thread, s *cuda.Stream) (err error) {
		groups, err = m.table.exact(m.kernels.On(t), s)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("first pass: count groups: %w", err)
	}
	return groups, nil
}

// HasRoom reports, before Finish, whether the table probably has room for that many more groups.
// It waits as TableGroups does.
func (m *Pass) HasRoom(groups uint64) (bool, error) {
	has, err := m.TableGroups()
	if err != nil {
		return false, err
	}
	m.table.mu.RLock()
	defer m.table.mu.RUnlock()
	return !m.table.frozen && float64(has+groups) <= ega.TableLoad*float64(m.plan.mostSlots), nil
}

// Stats may be called at any time, until Close too.
func (m *Pass) Stats() Stats {
	m.counts.mu.Lock()
	s := m.counts.Stats
	m.counts.mu.Unlock()
	s.Streams, s.Rows, s.Stats = m.pipeline.Stats(), m.rows.Load(), m.evicted.Stats()
	m.table.mu.RLock()
	defer m.table.mu.RUnlock()
	s.Slots, s.Growths, s.Direct = m.table.slots, m.table.epoch, m.table.strategy.direct.Load()
	return s
}
