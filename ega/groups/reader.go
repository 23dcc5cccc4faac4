package groups

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/internal/pinned"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// Reader copies partitions of Groups to the host. It is used on the goroutine that made it, which
// is locked to its OS thread until Close. While a piece is read, the next one crosses.
type Reader struct {
	groups  *Groups
	thread  *cuda.Thread
	stream  *cuda.Stream
	device  cuda.Span // for two pieces, where groups of the table become dense; lent by groups
	buffers [2]*cuda.Pinned
	room    uint32          // rows of each of these
	large   [2][]uint64     // pageable, for buckets that no buffer has room for
	values  [2]*cuda.Pinned // for values of lists, if there are any
}

// Reader makes a reader, of which there may be Config.Readers at a time. Errors: those of the
// driver and of the host's budget.
func (g *Groups) Reader() (*Reader, error) {
	t, err := g.config.Context.Lock()
	if err != nil {
		return nil, err
	}
	r := &Reader{groups: g, thread: t}
	if err := r.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("reader of groups: %w", err), r.Close())
	}
	return r, nil
}

// errReaders says that there are as many readers as there may be.
var errReaders = errors.New("all readers are in use")

// open makes the buffers of a reader: smaller ones where the host allows no others.
func (r *Reader) open() (err error) {
	select {
	case r.device = <-r.groups.buffers:
	default:
		return errReaders
	}
	if r.stream, err = r.thread.NewStream(); err != nil {
		return err
	}
	size, least := r.device.Size/2, max(pinned.Least, r.groups.row)
	for i := range r.buffers {
		if r.buffers[i], err = pinned.AllocLess(r.thread, r.groups.config.Host, size, least); err != nil {
			return err
		}
		size = r.buffers[i].Device().Size // the second is no larger, as it would be of no use
	}
	r.room = uint32(size / r.groups.row)
	if len(r.groups.config.Values.Lists) == 0 {
		return nil
	}
	for i := range r.values {
		if r.values[i], err = pinned.AllocLess(r.thread, r.groups.config.Host, valuesBytes, 8*combine.LeastValues); err != nil {
			return err
		}
	}
	return nil
}

// Read hands out the groups of partition p in pieces of whole rows, which are valid until emit
// returns, and which it may change. A piece is one or more whole buckets, which follow each other
// in order of hash. Within a bucket rows are in that order, too, unless those of a fine bucket are
// many. So the rows of one hash are in one piece. An error of emit ends it, and is returned.
func (r *Reader) Read(p int, emit func(rows []uint64) error) (err error) {
	first, end := r.groups.buckets(p)
	// emit may have failed while the next one crosses
	defer func() { err = errors.Join(err, r.stream.Synchronize()) }()
	next, err := r.fetch(first, end, 0)
	for turn := 1; err == nil && (next.rows != nil || next.end < end); turn++ {
		if err := r.stream.Synchronize(); err != nil {
			return err
		}
		here := next
		if next, err = r.fetch(here.end, end, turn); err != nil {
			return err
		}
		if err := r.emitPiece(here, emit); err != nil {
			return err
		}
	}
	return err
}

// emitPiece hands out the rows of a piece, in parts of whole buckets.
func (r *Reader) emitPiece(p piece, emit func(rows []uint64) error) error {
	stride, from := int(r.groups.row/8), r.groups.from
	most := max(partBytes/uint32(r.groups.row), 1)
	for first := p.first; first < p.end; {
		last := first + 1
		for last < p.end && from[last+1]-from[first] <= most {
			last++
		}
		rows := p.rows[int(from[first]-from[p.first])*stride : int(from[last]-from[p.first])*stride]
		first = last
		if len(rows) == 0 {
			continue
		}
		if err := emit(rows); err != nil {
			return err
		}
	}
	return nil
}

// piece is some buckets under way to the host. It has no rows if there were no more groups.
type piece struct {
	rows       []uint64
	first, end int // the first bucket, and the one behind the last
}

// fetch queues the copy of as many buckets from first on, before end, as a buffer has room for.
func (r *Reader) fetch(first, end, turn int) (piece, error) {
	some := r.groups.stretch(first, end, r.room)
	switch {
	case some.end == first && first < end: // larger than a buffer
		return r.fetchLarge(first, turn)
	case some.rows == 0:
		return piece{first: first, end: some.end}, nil
	}
	rows, err := r.cross(some, turn)
	return piece{rows, first, some.end}, err
}

// cross queues the copy of groups to the host.
func (r *Reader) cross(some stretch, turn int) ([]uint64, error) {
	half := r.device.Size / 2
	at := cuda.Size(turn%len(r.buffers)) * half
	from, err := r.groups.copyOut(r.stream, some, r.device.Slice(at, at+half))
	if err != nil {
		return nil, err
	}
	to := r.buffers[turn%len(r.buffers)].Span(0, from.Size)
	return to.Words(), r.stream.CopyOut(to, from)
}

// fetchLarge copies one bucket to pageable memory, and waits for that.
func (r *Reader) fetchLarge(bucket, turn int) (piece, error) {
	large := &r.large[turn%len(r.large)]
	*large = (*large)[:0]
	err := r.groups.windows(bucket, r.room, func(some stretch) error {
		rows, err := r.cross(some, turn)
		if err = errors.Join(err, r.stream.Synchronize()); err == nil {
			*large = append(*large, rows...)
		}
		return err
	})
	return piece{*large, bucket, bucket + 1}, err
}

// Values hands out the values of a list from number first on, n of them, in order: those of the
// groups in the order of their slots, so that groups that lie side by side in a piece of Read
// mostly have theirs side by side, too. They come combine.LeastValues at a time, or more, and are
// valid until emit returns. An error of emit ends it, and is returned.
func (r *Reader) Values(list int, first, n uint64, emit func(values []uint64) error) (err error) {
	all := r.groups.config.Values.Lists[list].Slice(cuda.Size(8*first), cuda.Size(8*(first+n)))
	defer func() { err = errors.Join(err, r.stream.Synchronize()) }()
	fetch := func(turn int) ([]uint64, error) {
		to := r.values[turn%len(r.values)]
		some := min(all.Size, to.Device().Size)
		here := to.Span(0, some)
		from := all.Slice(0, some)
		all = all.Slice(some, all.Size)
		if some == 0 {
			return nil, nil
		}
		return here.Words(), r.stream.CopyOut(here, from)
	}
	next, err := fetch(0)
	for turn := 1; err == nil && next != nil; turn++ {
		if err := r.stream.Synchronize(); err != nil {
			return err
		}
		here := next
		if next, err = fetch(turn); err != nil {
			return err
		}
		if err := emit(here); err != nil {
			return err
		}
	}
	return err
}

// Close frees what the reader has and unlocks the goroutine. A second call does nothing.
func (r *Reader) Close() error {
	var errs []error
	if r.stream != nil {
		errs = append(errs, r.stream.Close())
	}
	for _, b := range slices.Concat(r.buffers[:], r.values[:]) {
		if b != nil {
			errs = append(errs, b.Close())
		}
	}
	if r.device.Size > 0 {
		r.groups.buffers <- r.device // no copy writes there any more: the stream is closed
	}
	r.stream, r.buffers, r.values, r.large, r.device = nil, [2]*cuda.Pinned{}, [2]*cuda.Pinned{}, [2][]uint64{}, cuda.Span{}
	r.thread.Unlock()
	return errors.Join(errs...)
}
