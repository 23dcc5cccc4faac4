package evict

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/streams"
)

// evictor copies the full sets of a lane to the host. It is a goroutine with a thread and a stream
// of its own, so the lane does not wait, and both directions of the link are in use at once.
// Without evictors the lanes would stop at the same time: they take tiles in turns, so their pages
// run out together.
type evictor struct {
	full  chan *chainSet // nil: it has not begun, or no more will come
	empty chan *chainSet
	done  chan struct{} // closed when it has ended
	err   error         // then: why
}

// startEvictor starts the evictor, for up to as many sets as there may be.
func (l *Lane) startEvictor() {
	e := &l.evictor
	full := make(chan *chainSet, l.most)
	e.full, e.empty, e.done = full, make(chan *chainSet, l.most), make(chan struct{})
	go func() {
		defer close(e.done)
		e.err = invariant.Fenced(func() error { return l.evict(full) })
		if e.err != nil {
			l.of.stop(e.err) // the lanes need not go on
		}
	}()
}

// handOver gives the evictor the set that is being filled.
func (l *Lane) handOver(stream *cuda.Stream) error {
	set := l.filling
	if err := stream.Record(set.filled); err != nil {
		return err
	}
	l.filling = nil
	l.of.counts.eviction()
	l.evictor.full <- set // has room for all
	return nil
}

// end gives the evictor the rows that are left and lets it end. The lane must have ended.
func (l *Lane) end() {
	if l.evictor.full == nil {
		return
	}
	if l.filling != nil {
		l.evictor.full <- l.filling
		l.filling = nil
	}
	close(l.evictor.full)
	l.evictor.full = nil
}

// evict runs the evictor. When it returns, all rows are on the host and the memory of the sets is
// free.
func (l *Lane) evict(full <-chan *chainSet) error {
	return l.of.config.Context.OnStream(func(t *cuda.Thread, look *cuda.Stream) error {
		return t.OnStream(func(stream *cuda.Stream) error {
			err := l.of.sending(t, stream, l.pieces, func(s *sender) error { return l.evictSets(full, s, look) })
			if err = errors.Join(err, stream.Synchronize()); err != nil {
				return err
			}
			return l.closeSets()
		})
	})
}

// evictSets sends set after set.
func (l *Lane) evictSets(full <-chan *chainSet, s *sender, look *cuda.Stream) error {
	for {
		set, ok, err := nextSet(full, s)
		if err != nil || !ok {
			return err
		}
		err = l.of.retention.decide(s.thread, look, mostBuffer(s.bytes, l.plan))
		if err = errors.Join(err, set.send(s, look)); err != nil {
			return fmt.Errorf("evict: %w", err)
		}
		l.evictor.empty <- set // has room for all
	}
}

// nextSet returns the next full set; false: no more will come. Before it waits, it gives the
// writers the rows that have been sent.
func nextSet(full <-chan *chainSet, s *sender) (set *chainSet, ok bool, err error) {
	select {
	case set, ok = <-full:
		return set, ok, nil
	default:
	}
	if err := s.drain(); err != nil {
		return nil, false, err
	}
	set, ok = <-full
	return set, ok, nil
}

// until waits without keeping a core busy, which a wait of the driver does.
func until(done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		streams.Pause()
	}
}
