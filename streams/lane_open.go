package streams

import (
	"errors"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// open makes the streams, and as many stages as there is room for. Whatever it
// cannot use it closes.
func (l *lane) open() (err error) {
	if l.thread, err = l.pipeline.context.Lock(); err != nil {
		return err
	}
	if err = l.openStreams(); err == nil {
		err = errors.Join(l.pipeline.facts.LoadAll(), l.openStages())
	}
	if err != nil {
		return errors.Join(err, l.close())
	}
	return nil
}

func (l *lane) openStreams() (err error) {
	streams := []**cuda.Stream{&l.in, &l.work, &l.out}
	if l.pipeline.config.OutBytes == NoOutput {
		streams = streams[:2]
	}
	for _, s := range streams {
		if *s, err = l.thread.NewStream(); err != nil {
			return err
		}
	}
	if l.pipeline.config.Trace != nil {
		return l.setZero()
	}
	return nil
}

// setZero finds a moment that the device and the host both know: an event, and
// when the host saw it. A busy host sees it late, so of some tries the shortest
// is taken.
func (l *lane) setZero() error {
	const tries = 9
	for n, shortest := 0, time.Duration(0); n < tries; n++ {
		e, err := l.thread.NewEvent()
		if err != nil {
			return err
		}
		from := l.pipeline.now()
		if err = l.in.Record(e); err == nil {
			err = e.Synchronize()
		}
		at := l.pipeline.now()
		if err == nil && (l.zero == nil || at-from < shortest) {
			e, l.zero = l.zero, e
			l.zeroAt, shortest = at, at-from
		}
		if e != nil {
			err = errors.Join(err, e.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openStages makes fewer stages than wanted where there is no room for them, but
// at least one.
func (l *lane) openStages() error {
	n, err := l.memory.allocate(l)
	for i := 0; err == nil && i < n; i++ {
		var s *Stage
		if s, err = l.newStage(i); err == nil {
			l.stages, l.idle = append(l.stages, s), append(l.idle, s)
		}
	}
	if err != nil && (!refused(err) || len(l.stages) == 0) {
		return err
	}
	if err != nil {
		l.pipeline.refuse(err)
	}
	l.stats.Stages = len(l.stages)
	return nil
}

// close frees all that the lane has.
func (l *lane) close() error {
	err := l.drain()
	for _, s := range l.stages {
		err = errors.Join(err, s.close(l.pipeline))
	}
	err = errors.Join(err, l.memory.free(l.pipeline))
	if l.zero != nil {
		err = errors.Join(err, l.zero.Close())
	}
	for _, s := range l.streams() {
		err = errors.Join(err, s.Close())
	}
	l.thread.Unlock()
	return err
}

func (l *lane) streams() (made []*cuda.Stream) {
	for _, s := range []*cuda.Stream{l.in, l.work, l.out} {
		if s != nil {
			made = append(made, s)
		}
	}
	return made
}

// drain waits for the streams (DRAINED). Should that fail, the whole context is
// waited for: what is freed next must not be written to any more. The error of a
// lost context is always the same one.
func (l *lane) drain() error {
	var err error
	for _, s := range l.streams() {
		err = errors.Join(err, s.Synchronize())
	}
	if err != nil {
		err = errors.Join(err, l.thread.Synchronize())
	}
	if lost := l.pipeline.context.Lost(); lost != nil {
		return lost
	}
	return err
}
