package firstpass

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Finish is called when nothing more will be submitted. It waits until all tiles are combined and, if the device had no
// room for all, until all rows have been placed. The result is the groups on the device, divided by the top bits
// of their hash into 2^bits partitions, which are the caller's to close; or nil, if there are no lists: all rows were given to Place. Its
// error is the first that stopped the pass; then what was placed is not all.
func (m *Pass) Finish(bits uint) (_ *Groups, err error) {
	if bits > mostBits {
		return nil, fmt.Errorf("first pass: 2^%d partitions, more than 2^%d", bits, mostBits)
	}
	if err := m.pipeline.Finish(); err != nil {
		return nil, fmt.Errorf("first pass: %w", err)
	}
	if invariant.Enabled {
		invariant.Check(m.counts.settled == m.rows.Load(), "rows are settled once")
	}
	g, err := m.end(bits)
	if stopped := m.placing.finish(); stopped != nil {
		err = stopped // another error would be of who waited for the placers
	}
	if err != nil {
		if g != nil {
			err = errors.Join(err, g.Close())
		}
		return nil, fmt.Errorf("first pass: %w", err)
	}
	return g, nil
}

// end is what remains when the lanes have ended.
func (m *Pass) end(bits uint) (g *Groups, err error) {
	evicted, err := m.evictAll()
	if err != nil {
		return nil, err
	}
	err = m.context.OnStream(func(t *cuda.Thread, s *cuda.Stream) (err error) {
		g, err = m.collect(t, s, evicted, bits)
		return err
	})
	return g, errors.Join(err, m.kept.finish())
}

// collect leaves the groups in the table, if no rows were evicted and there is room to read them; else they are placed.
func (m *Pass) collect(t *cuda.Thread, stream *cuda.Stream, evicted bool, bits uint) (_ *Groups, err error) {
	table, err := m.table.take()
	if err != nil {
		return nil, err
	}
	g := &Groups{
		context: m.context, host: m.config.Host, table: table, view: m.kernels.View(), order: kernels.NewEgaOrder(m.context),
		row: m.plan.layout.RowBytes(), bits: bits, room: m.plan.beside(table.View().Slots), readers: m.config.Readers, readBytes: cuda.Size(m.config.ReadBytes),
	}
	if m.lists.any() {
		if g.lists, err = m.lists.place(t, stream, table); err != nil {
			return nil, errors.Join(err, g.Close())
		}
		g.room += m.lists.spare(&g.lists)
	}
	if err := g.place(t, stream); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	if m.lists.any() && !g.readable() {
		return nil, errors.Join(fmt.Errorf("%w to read groups", ega.ErrTooSmall), g.Close())
	}
	m.counts.end(g.Len(), !evicted && g.readable())
	if m.counts.InCore {
		if err := g.open(); err != nil {
			return nil, errors.Join(err, g.Close())
		}
		return g, nil
	}
	err = m.placing.sending(t, stream, sendBytes(m.plan.layout, g.room), func(s *sender) error { return s.groups(g) })
	return nil, errors.Join(err, g.Close())
}

// evictAll waits until the chains of all lanes are on the host, and their memory is free. False: there were none.
func (m *Pass) evictAll() (anyRows bool, err error) {
	for i := range m.lanes {
		m.lanes[i].end()
	}
	for i := range m.lanes {
		if leaver := &m.lanes[i].chains.leaver; leaver.done != nil {
			<-leaver.done
			anyRows, err = true, errors.Join(err, leaver.err)
		}
	}
	return anyRows, err
}
