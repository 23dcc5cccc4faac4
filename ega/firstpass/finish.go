package firstpass

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Finish is called when nothing more will be submitted. It waits until all tiles are combined and,
// if the device had no room for all, until all rows are on the host. The result is the groups on
// the device, divided by the top bits of their hash into 2^bits partitions. The caller opens them
// before any reader, and closes them. It is nil if rows or groups were evicted: then all of them
// were given to Write, or are in EvictedRows. With lists it is never nil. The error is the first
// one that stopped the pass; in that case Write has not been given all rows.
func (m *Pass) Finish(bits uint) (_ *groups.Groups, err error) {
	if bits > groups.MostBits {
		return nil, fmt.Errorf("first pass: 2^%d partitions, more than 2^%d", bits, groups.MostBits)
	}
	if err := m.pipeline.Finish(); err != nil {
		return nil, fmt.Errorf("first pass: %w", err)
	}
	if invariant.Enabled {
		invariant.Check(m.counts.settled == m.rows.Load(), "rows are settled once")
	}
	g, err := m.end(bits)
	err = errors.Join(err, m.evicted.Finish())
	if stopped := context.Cause(m.ctx); stopped != nil {
		err = stopped // err may only say that a wait for the writers was stopped
	}
	if err != nil {
		if g != nil {
			err = errors.Join(err, g.Close())
		}
		return nil, fmt.Errorf("first pass: %w", err)
	}
	return g, nil
}

// end does what remains when the lanes have ended.
func (m *Pass) end(bits uint) (g *groups.Groups, err error) {
	evicted, err := m.evicted.EndLanes()
	if err != nil {
		return nil, err
	}
	err = m.context.OnStream(func(t *cuda.Thread, s *cuda.Stream) (err error) {
		g, err = m.collect(t, s, evicted, bits)
		return err
	})
	return g, err
}

// collect leaves the groups in the table if no rows were evicted and there is room to read them.
// Otherwise it evicts them.
func (m *Pass) collect(t *cuda.Thread, stream *cuda.Stream, evicted bool, bits uint) (*groups.Groups, error) {
	g, err := m.take(t, stream, bits)
	if err != nil {
		return nil, err
	}
	if m.lists.any() && !g.Readable() {
		return nil, errors.Join(fmt.Errorf("%w to read groups", ega.ErrTooSmall), g.Close())
	}
	m.counts.end(g.Len(), !evicted && g.Readable())
	if m.counts.InCore {
		return g, nil
	}
	if err = g.Locate(t, stream); err == nil {
		err = m.evicted.SendGroups(t, stream, g)
	}
	return nil, errors.Join(err, g.Close())
}

// take takes the table's groups, with the values of their lists.
func (m *Pass) take(t *cuda.Thread, stream *cuda.Stream, bits uint) (*groups.Groups, error) {
	table, err := m.table.detach()
	if err != nil {
		return nil, err
	}
	c := groups.Config{
		Context: m.context, Layout: m.plan.layout, Table: table, Bits: bits, Host: m.config.Host, Room: m.plan.beside(table.View().Slots),
		Readers: m.config.Readers, ReadBytes: cuda.Size(m.config.ReadBytes),
	}
	if m.lists.any() {
		if c.Values, err = m.lists.place(t, stream, table); err != nil {
			return nil, errors.Join(err, table.Close())
		}
		c.Room += m.lists.spare(&c.Values)
	}
	return groups.New(t, stream, c)
}
