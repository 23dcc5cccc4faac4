package remote

import (
	"context"
	"slices"
)

// wanted is the ranges of a part, which workers read soon.
type wanted struct {
	extents []*extent // in their order, apart from each other
	holders int
	cancel  context.CancelFunc
	ctx     context.Context
}

// extent is what one request asks for.
type extent struct {
	of        *wanted
	off, size int64
	begun     bool
	read      int64 // bytes that were; all: it is gone
	gone      bool
	done      chan struct{} // closed when data or err is there
	data      []byte
	err       error
}

// Want says that the caller reads some ranges next, each an offset and a size. They belong to the
// part with a number that the caller chooses. Each call with hold keeps the part until a call of
// Done; a call without hold is a hint, and a later call may hold the part. The first extents are
// requested at once; with lazy each is requested when a read falls into it.
func (o *Object) Want(part int, ranges [][2]int64, hold, lazy bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.from == nil {
		return
	}
	w := o.parts[part]
	if w == nil {
		w = &wanted{extents: coalesce(o.beforeTail(ranges))}
		for _, e := range w.extents {
			e.of = w
		}
		w.ctx, w.cancel = context.WithCancel(o.ctx)
		o.parts[part] = w
	}
	if hold {
		w.holders++
	}
	for _, e := range w.extents {
		if lazy || !e.begun && !o.begin(e, true) {
			break
		}
	}
}

// beforeTail cuts off the ranges what lies in the tail, which is in memory already. o.mu is held.
func (o *Object) beforeTail(ranges [][2]int64) (before [][2]int64) {
	end := o.size - int64(len(o.tail))
	for _, r := range ranges {
		if r[0] < end {
			before = append(before, [2]int64{r[0], min(r[1], end-r[0])})
		}
	}
	return before
}

// Done says that a holder of a part reads it no more.
func (o *Object) Done(part int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.parts[part]
	if w == nil {
		return
	}
	if w.holders--; w.holders <= 0 {
		o.forget(part, w)
	}
}

// coalesce makes requests of ranges: those that are near each other are one, of no more than a
// size.
func coalesce(ranges [][2]int64) (all []*extent) {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b [2]int64) int { return int(min(max(a[0]-b[0], -1), 1)) })
	for _, r := range ranges {
		off, end := r[0], r[0]+r[1]
		if len(all) > 0 {
			last := all[len(all)-1]
			if have := last.off + last.size; off <= have+nearBytes && last.size < requestBytes {
				last.size = min(max(end, have)-last.off, requestBytes)
			}
			off = max(off, last.off+last.size)
		}
		for off < end {
			e := &extent{off: off, size: min(end-off, requestBytes)}
			all, off = append(all, e), off+e.size
		}
	}
	return all
}

// extentAt is what holds the byte at a place. o.mu is held.
func (o *Object) extentAt(off int64) *extent {
	for _, w := range o.parts {
		i, there := slices.BinarySearchFunc(w.extents, off, func(e *extent, off int64) int {
			switch {
			case e.off+e.size <= off:
				return -1
			case e.off > off:
				return 1
			}
			return 0
		})
		if there {
			return w.extents[i]
		}
	}
	return nil
}

// begin requests an extent if there is memory for it. With ahead nobody reads it yet: then it is
// requested only if the extents requested ahead stay within Config.Ahead. o.mu is held.
func (o *Object) begin(e *extent, ahead bool) bool {
	c := o.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if ahead && c.ahead+e.size > c.config.Ahead || o.from.Draw(e.size) != nil {
		return false
	}
	c.ahead += e.size
	e.begun, e.done = true, make(chan struct{})
	go func() {
		data := make([]byte, e.size)
		err := o.read(e.of.ctx, data, e.off)
		o.mu.Lock()
		defer o.mu.Unlock()
		if e.err = err; err == nil && !e.gone {
			e.data = data
		}
		close(e.done)
	}()
	return true
}

// forget lets go of a part. o.mu is held. A request that is under way ends soon; its memory counts
// as given back.
func (o *Object) forget(part int, w *wanted) {
	delete(o.parts, part)
	w.cancel()
	for _, e := range w.extents {
		o.drop(e)
	}
}

// drop lets go of an extent. o.mu is held.
func (o *Object) drop(e *extent) {
	if !e.begun || e.gone {
		return
	}
	e.gone, e.data = true, nil
	o.from.Release(e.size)
	o.client.mu.Lock()
	defer o.client.mu.Unlock()
	o.client.ahead -= e.size
}
