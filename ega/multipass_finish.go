package ega

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/partition"
)

// Finish is called when nothing more will be submitted. It waits until all tiles are combined and, if the device had no
// room for all, until all rows have been placed. The result is the groups on the device, divided by the top bits
// of their hash into 2^bits partitions, which are the caller's to close; or nil: all rows were given to Place. Its
// error is the first that stopped the pass; then what was placed is not all.
func (m *MultiPass) Finish(bits uint) (_ *Groups, err error) {
	if bits > mostBits {
		return nil, fmt.Errorf("multi pass: 2^%d partitions, more than 2^%d", bits, mostBits)
	}
	if err := m.pipeline.Finish(); err != nil {
		return nil, fmt.Errorf("multi pass: %w", err)
	}
	g, err := m.end(bits)
	if stopped := m.placing.finish(); stopped != nil {
		err = stopped // another error would be of who waited for the placers
	}
	if err != nil {
		if g != nil {
			err = errors.Join(err, g.Close())
		}
		return nil, fmt.Errorf("multi pass: %w", err)
	}
	return g, nil
}

// onStream lets do work on a thread and a stream of its own, whose work has ended then.
func (m *MultiPass) onStream(do func(t *cuda.Thread, s *cuda.Stream) error) error {
	t, err := m.context.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	return onStreamOf(t, func(s *cuda.Stream) error { return do(t, s) })
}

// onStreamOf lets do work on a stream of its own of a thread.
func onStreamOf(t *cuda.Thread, do func(s *cuda.Stream) error) error {
	s, err := t.NewStream()
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// end is what remains when the lanes have ended.
func (m *MultiPass) end(bits uint) (g *Groups, err error) {
	evicted, err := m.evictAll()
	if err != nil {
		return nil, err
	}
	err = m.onStream(func(t *cuda.Thread, s *cuda.Stream) (err error) {
		g, err = m.collect(t, s, evicted, bits)
		return err
	})
	return g, err
}

// collect makes the groups of the table dense. If no rows were evicted and there is room they are divided and stay; else
// they are placed.
func (m *MultiPass) collect(t *cuda.Thread, stream *cuda.Stream, evicted bool, bits uint) (*Groups, error) {
	m.table.mu.Lock()
	dense, groups, err := m.table.dense(m.kernels.on(t), stream)
	m.table.mu.Unlock()
	if err != nil {
		return nil, err
	}
	fine := fineBits(groups, bits)
	m.counts.end(groups, !evicted && m.fits(dense, groups, fine))
	if m.counts.InCore {
		return m.divide(t, stream, dense, groups, bits, fine)
	}
	err = m.placing.sending(t, stream, func(s *sender) error { return s.dense(dense.Span(), groups) })
	return nil, errors.Join(err, stream.Synchronize(), dense.Close())
}

// evictAll waits until the chains of all lanes are on the host, and their memory is free. False: there were none.
func (m *MultiPass) evictAll() (anyRows bool, err error) {
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

// fineGroups is how many groups a fine bucket has, about: few, that they are soon put in order (ega_order.cu), and
// enough that numbers of buckets are a small part of the rows. A guess.
const fineGroups = 16

// fineBits is how many bits of the hash the groups are divided by, at least as many as the caller wants.
func fineBits(groups uint64, least uint) uint {
	return max(min(uint(bits.Len64(groups/fineGroups)), mostBits), least, 1)
}

// fits says whether there is room to divide the groups beside themselves.
func (m *MultiPass) fits(dense *cuda.Memory, groups uint64, fine uint) bool {
	counters := cuda.Size(16)<<fine + 64<<10 // four words for each bucket at most, and those of the first level
	out := passAligned(cuda.Size(max(groups, 1)) * m.plan.layout.RowBytes())
	return groups <= MaxSlots && passAligned(dense.Span().Size)+out+counters <= m.plan.device
}

// divide divides the groups, and frees dense or gives it to Groups.
func (m *MultiPass) divide(t *cuda.Thread, stream *cuda.Stream, dense *cuda.Memory, groups uint64, bits, fine uint) (*Groups, error) {
	g := &Groups{
		context: m.context, host: m.config.Host, buffer: m.config.ReadBytes,
		row: m.plan.layout.RowBytes(), bits: bits, fine: fine,
	}
	from, unused, err := g.scatter(t, stream, m, dense, groups)
	if unused != nil {
		err = errors.Join(err, unused.Close())
	}
	if err == nil && uint64(from[len(from)-1]) != groups {
		err = fmt.Errorf("%d groups were divided, %d came out", groups, from[len(from)-1])
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.from = from
	return g, nil
}

// scatter takes over the memory in which the divided groups are, and returns the other one, of which nothing is
// needed any more.
func (g *Groups) scatter(t *cuda.Thread, stream *cuda.Stream, m *MultiPass, dense *cuda.Memory, groups uint64) (from []uint32, unused *cuda.Memory, err error) {
	other, err := t.Alloc(cuda.Size(max(groups, 1)) * g.row)
	if err != nil {
		return nil, dense, err
	}
	g.memory = other
	s, err := partition.NewDeviceScatter(t, kernels.NewEgaScatter(t.Context()), partition.DeviceRows{Stride: m.plan.layout.Stride(), Bits: g.fine}, int(groups))
	if err != nil {
		return nil, dense, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	divided, err := s.Scatter(stream, dense.Span(), other.Span(), int(groups))
	if err = errors.Join(err, stream.Synchronize()); err != nil {
		return nil, dense, err
	}
	if divided.Rows == dense.Span() {
		g.memory, dense = dense, other
	}
	if err := g.order(t, stream, divided.From, dense); err != nil {
		return nil, dense, err
	}
	g.memory, dense = dense, g.memory
	from, err = s.From(divided)
	return from, dense, err
}

// order copies the rows of each fine bucket to other memory in order of their hashes.
func (g *Groups) order(t *cuda.Thread, stream *cuda.Stream, from cuda.Span, to *cuda.Memory) error {
	buckets, stride := uint32(1)<<g.fine, uint32(g.row/8)
	err := kernels.NewEgaOrder(t.Context()).Buckets(
		stream, kernels.OrderGrid(buckets), g.memory.Span().Ptr, to.Span().Ptr, from.Ptr, buckets, stride)
	return errors.Join(err, stream.Synchronize())
}
