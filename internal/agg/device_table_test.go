package agg

import (
	"encoding/binary"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// A device combines what agg's rows are, in shared memory and without.
func TestDeviceTable(t *testing.T) {
	thread := gputest.Open(t)
	stream := gputest.Keep(t, thread.NewStream)
	every := 12 // each loads the kernels
	if testing.Short() {
		every = 60
	}
	var todo []func() // here, on the thread's goroutine
	forDevice(t, func(_ *testing.T, l *Layout, d *testData, layout ega.Layout) {
		if n := len(todo); len(d.gids) > 0 {
			todo = append(todo, func() {
				groups, err := tableOf(thread, stream, layout, deviceRows(l, d, testRand()), n/every%2 == 0)
				if err != nil {
					t.Fatal(err)
				}
				agree(t, l, d, combinedRows(t, l, groups))
			})
		}
	})
	for i := 0; i < len(todo); i += every {
		todo[i]()
	}
}

// tableOf combines rows in a table of the device.
func tableOf(thread *cuda.Thread, stream *cuda.Stream, layout ega.Layout, rows []uint64, shared bool) (groups []uint64, err error) {
	n := len(rows) / layout.Stride()
	k, err := ega.Load(thread, layout)
	if err != nil {
		return nil, err
	}
	table, err := ega.NewTable(k, ega.TableConfig{Slots: uint32(2*n) + 1})
	if err != nil {
		return nil, err
	}
	defer table.Close()
	space, err := thread.Alloc(cuda.Size(8 * (len(rows) + 2*n*layout.Stride() + 8*layout.Stride())))
	if err != nil {
		return nil, err
	}
	defer space.Close()
	in := space.Span().Slice(0, cuda.Size(8*len(rows)))
	out := space.Span().Slice(cuda.Size(8*len(rows)), space.Span().Size)
	raw := make([]byte, 8*len(rows))
	for i, w := range rows {
		binary.LittleEndian.PutUint64(raw[8*i:], w)
	}
	if err := thread.Write(in, raw); err != nil {
		return nil, err
	}
	add := table.Add
	if shared {
		add = func(s *cuda.Stream, rows cuda.Span, n uint64) error { return table.AddShared(s, rows, n, 8) }
	}
	for _, step := range []func() error{
		func() error { return table.Clear(stream) },
		func() error { return add(stream, in, uint64(n)) },
		func() error { return table.Collect(stream, out) },
		stream.Synchronize,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	counts, err := table.Count()
	if err != nil {
		return nil, err
	}
	raw = make([]byte, counts.Groups*uint64(8*layout.Stride()))
	if err := thread.Read(raw, out.Slice(0, cuda.Size(len(raw)))); err != nil {
		return nil, err
	}
	for i := 0; i < len(raw); i += 8 {
		groups = append(groups, binary.LittleEndian.Uint64(raw[i:]))
	}
	return groups, nil
}
