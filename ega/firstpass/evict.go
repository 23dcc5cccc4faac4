package firstpass

import (
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// eviction is the configuration by which rows leave the device.
func (m *Pass) eviction() evict.Config {
	c := evict.Config{
		Context: m.context, Layout: m.plan.layout, Host: m.config.Host, Lanes: m.config.Streams, MaxRows: m.plan.most,
		Memory:  func() cuda.Size { return m.plan.beside(m.table.size()) / cuda.Size(m.plan.lanes) },
		Writers: m.config.Writers, Write: m.config.Write,
		RetainBytes: m.config.RetainBytes, Spares: m.config.Spares,
	}
	if m.config.RetainPays != nil {
		c.RetainPays = m.retainPays
	}
	return c
}

// retainPays asks whether evicted rows should stay in pinned memory.
func (m *Pass) retainPays(t *cuda.Thread, s *cuda.Stream) (bool, error) {
	groups, err := m.table.exact(m.kernels.On(t), s)
	if err != nil {
		return false, err
	}
	return m.config.RetainPays(m.gainCounts(groups)), nil
}

// gainCounts returns the counts for feedback.BucketGain. It leaves out the rows under way, of
// which it is not known yet whether they are evicted.
func (m *Pass) gainCounts(groups uint64) feedback.GainCounts {
	c := &m.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	return feedback.GainCounts{Rows: c.settled, Rest: c.RestRows, Groups: groups}
}

// EvictedRows hands over the rows that were retained (Config.RetainBytes), once, when Finish has
// returned. The caller closes them. nil: there are none.
func (m *Pass) EvictedRows() *evict.Rows { return m.evicted.Rows() }
