package firstpass

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// listedBytes is the device memory that a row takes in so many lists: its records, and its values'
// places.
func listedBytes(l *ega.Layout, lists int) cuda.Size {
	return cuda.Size(lists) * (recordBytes(l) + 8)
}

// recordBytes is the size of a record: hash, key and value.
func recordBytes(l *ega.Layout) cuda.Size { return cuda.Size(8 * (l.Stride() - len(l.Ops) + 1)) }

// lists holds the lists of a Pass (ega_lists.cuh). Each job takes memory for records of all its
// rows. At the end the values are put in the order of their groups (LIST-WHOLE, LIST-ROOM).
type lists struct {
	lists   []list
	kernels *kernels.EgaLists
	view    kernels.EgaLayout
	layout  *ega.Layout
	memory  cuda.Pieces // of the records
	most    uint64      // rows
	taken   atomic.Uint64
}

// list is one list.
type list struct {
	view  kernels.EgaList
	noted cuda.Span // how many records there are
}

// any reports whether there are lists.
func (p *lists) any() bool { return len(p.lists) > 0 }

func (p *lists) open(k *ega.Kernels, lists []combine.List, plan *plan) error {
	if len(lists) == 0 {
		return nil
	}
	p.kernels, p.view, p.layout, p.most = kernels.NewEgaLists(k.Thread.Context()), k.Layout.View(), plan.layout, plan.listed
	p.memory.Thread = k.Thread
	p.lists = make([]list, len(lists))
	for i, l := range lists {
		to := &p.lists[i]
		var records cuda.Span
		if err := p.memory.AllocAll(cuda.Piece{To: &records, Bytes: cuda.Size(p.most) * recordBytes(plan.layout)}, cuda.Piece{To: &to.noted, Bytes: 8}); err != nil {
			return fmt.Errorf("lists of %d values: %w", p.most, err)
		}
		to.view = kernels.EgaList{
			Records: records.Ptr, Noted: to.noted.Ptr, Unit: l.Unit, Value: uint32(l.Value), Next: uint32(l.Next), Count: uint32(l.Count),
		}
	}
	return k.Thread.OnStream(func(s *cuda.Stream) error {
		var errs []error
		for i := range p.lists {
			errs = append(errs, s.Fill(p.lists[i].noted, 0))
		}
		return errors.Join(append(errs, s.Synchronize())...)
	})
}

// admit takes room for the records of a job, if there is any.
func (p *lists) admit(rows uint64) bool {
	if p.taken.Add(rows) <= p.most {
		return true
	}
	p.release(rows)
	return false
}

// release gives the room of that many rows back.
func (p *lists) release(rows uint64) { p.taken.Add(-rows) }

// claim queues a kernel that finds or makes a slot for the group of each of n rows.
func (p *lists) claim(s *cuda.Stream, table kernels.EgaTable, rows cuda.Span, n uint64, c kernels.EgaClaim) error {
	return p.kernels.Claim(s, kernels.ListsRows(n), p.view, rows.Ptr, n, table, c)
}

// note queues a kernel that notes the values of n rows, unless the word `hold` is set.
func (p *lists) note(s *cuda.Stream, rows cuda.Span, n uint64, hold cuda.Span) error {
	var errs []error
	for i := range p.lists {
		errs = append(errs, p.kernels.Note(s, kernels.ListsRows(n), p.view, rows.Ptr, n, p.lists[i].view, hold.Ptr))
	}
	return errors.Join(errs...)
}

// errListed says that values were lost on the device.
var errListed = errors.New("not all values of lists have come to their groups")

// place puts the values of each group in their places, when no more jobs come. It frees the
// records.
func (p *lists) place(t *cuda.Thread, s *cuda.Stream, table *ega.Table) (v groups.Values, err error) {
	p.memory.Thread, v.Memory.Thread = t, t
	defer func() {
		if err != nil {
			err = errors.Join(err, v.Memory.Close())
		}
	}()
	for i := range p.lists {
		values, err := p.placeOne(t, s, table, &p.lists[i], &v.Memory)
		if err != nil {
			return v, err
		}
		v.Lists = append(v.Lists, values)
	}
	return v, p.memory.Close()
}

// spare is the device memory that was set aside for records and values, less that of the values.
func (p *lists) spare(v *groups.Values) cuda.Size {
	all := cuda.Size(p.most) * listedBytes(p.layout, len(p.lists))
	for _, values := range v.Lists {
		all -= min(all, cuda.Allocated(values.Size))
	}
	return all
}

func (p *lists) placeOne(t *cuda.Thread, s *cuda.Stream, table *ega.Table, l *list, to *cuda.Pieces) (values cuda.Span, err error) {
	noted, err := p.memory.Thread.ReadWords(l.noted, 1)
	if err != nil {
		return values, err
	}
	n, view := noted[0], table.View()
	view.Probes = view.Slots // a group that has a slot is found
	if values, err = to.Alloc(cuda.Size(n) * 8); err != nil {
		return values, fmt.Errorf("%d values: %w", n, err)
	}
	begin := kernels.ListsSlots(view.Slots)
	work, tiles := cuda.Pieces{Thread: t}, 8*cuda.Size(begin.Blocks)
	all, err := work.Alloc(tiles + 16)
	if err != nil {
		return values, err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	facts := all.Slice(tiles, tiles+16)
	err = errors.Join(
		s.Fill(all, 0),
		p.kernels.Begin(s, begin, p.view, view, l.view, kernels.EgaScan{Tiles: all.Ptr, Total: facts.Ptr}),
		p.kernels.Place(s, kernels.ListsRows(n), p.view, view, l.view, n, values.Ptr, n, facts.Slice(8, 12).Ptr),
		s.Synchronize(),
	)
	if err != nil {
		return values, err
	}
	counted, err := work.Thread.ReadWords(facts, 2)
	if err == nil && (counted[0] != n || counted[1] != uint64(kernels.StatusOk)) {
		err = fmt.Errorf("%w: %d of %d", errListed, counted[0], n)
	}
	return values, err
}
