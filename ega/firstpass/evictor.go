package firstpass

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/streams"
)

// leaver is who copies the full sets of a lane to the host: a goroutine with a thread and a stream of its own. So the lane does not
// wait, and both directions of the link are in use at once: lanes that evicted their own chains did so at the same time, for they
// take tiles in turns and so their pages run out together.
type leaver struct {
	full  chan *chainSet // nil: it has not begun, or no more will come
	empty chan *chainSet
	done  chan struct{} // closed when it has ended
	err   error         // then: why
}

// start begins the leaver, for up to as many sets as there may be.
func (l *lane) start() {
	leave := &l.chains.leaver
	full := make(chan *chainSet, l.chains.most)
	leave.full, leave.empty, leave.done = full, make(chan *chainSet, l.chains.most), make(chan struct{})
	go func() {
		defer close(leave.done)
		leave.err = invariant.Fenced(func() error { return l.live(full) })
		if leave.err != nil {
			l.pass.cancel(leave.err) // the lanes need not go on
		}
	}()
}

// leave gives the leaver the set that is being filled.
func (l *lane) leave(stream *cuda.Stream) error {
	set := l.chains.filling
	if err := stream.Record(set.filled); err != nil {
		return err
	}
	l.chains.filling = nil
	l.pass.counts.eviction()
	l.chains.leaver.full <- set // has room for all
	return nil
}

// end lets the leaver have what is left, and end. The lane has ended.
func (l *lane) end() {
	c := &l.chains
	if c.leaver.full == nil {
		return
	}
	if c.filling != nil {
		c.leaver.full <- c.filling
		c.filling = nil
	}
	close(c.leaver.full)
	c.leaver.full = nil
}

// live is the life of a leaver. All rows are with the placers in the end, and the memory of the sets is free.
func (l *lane) live(full <-chan *chainSet) error {
	return l.pass.context.OnStream(func(t *cuda.Thread, look *cuda.Stream) error {
		return t.OnStream(func(stream *cuda.Stream) error {
			err := l.pass.placing.sending(t, stream, l.chains.pieces, func(s *sender) error { return l.sendAll(full, s, look) })
			if err = errors.Join(err, stream.Synchronize()); err != nil {
				return err
			}
			return l.closeSets()
		})
	})
}

// sendAll sends set after set. What there is in a set is found on a stream of its own, while the rows of the one before
// still leave.
func (l *lane) sendAll(full <-chan *chainSet, s *sender, look *cuda.Stream) error {
	for {
		set, ok, err := next(full, s)
		if err != nil || !ok {
			return err
		}
		err = l.pass.kept.decide(l.pass.kernels.On(s.thread), look, keptMost(s.bytes, l.chains.plan))
		if err = errors.Join(err, set.send(s, look)); err != nil {
			return fmt.Errorf("evict: %w", err)
		}
		l.chains.leaver.empty <- set // has room for all
	}
}

// next is the next full set; false: no more will come. Before it waits, the placers get what has been sent.
func next(full <-chan *chainSet, s *sender) (set *chainSet, ok bool, err error) {
	select {
	case set, ok = <-full:
		return set, ok, nil
	default:
	}
	if err := s.settle(); err != nil {
		return nil, false, err
	}
	set, ok = <-full
	return set, ok, nil
}

// send queues that all rows leave the set, which is empty then.
func (s *chainSet) send(to *sender, look *cuda.Stream) error {
	if err := look.Wait(s.filled); err != nil {
		return err
	}
	if err := until(look.Done); err != nil {
		return err
	}
	s.chains.Move(to.thread)
	sizes, err := s.sizes()
	if err != nil {
		return err
	}
	if err := s.chains.List(to.stream, sizes); err != nil {
		return err
	}
	chainBits := uint(bits.TrailingZeros(uint(len(sizes))))
	for p, size := range sizes {
		if err := to.chain(s.chains, p, size.Rows(s.chains.PageRows()), chainBits); err != nil {
			return err
		}
	}
	s.rows = 0
	if err := s.chains.Free(to.stream, 0, len(sizes)); err != nil {
		return err
	}
	return to.stream.Record(s.left)
}

// until waits without keeping a core busy, as the driver would.
func until(done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		streams.Pause()
	}
}

// closeSets frees the memory of the sets.
func (l *lane) closeSets() error {
	var errs []error
	for _, s := range l.chains.sets {
		errs = append(errs, s.close())
	}
	l.chains.sets = nil
	return errors.Join(errs...)
}

// close ends the leaver and frees what it has left. The pass has been stopped or is finished.
func (l *lane) close() error {
	if l.chains.leaver.done == nil {
		return l.closeSets()
	}
	l.end()
	<-l.chains.leaver.done // Finish tells its error
	return l.closeSets()
}
