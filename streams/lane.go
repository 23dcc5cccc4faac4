package streams

import (
	"fmt"
	"slices"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// lane drives some of the jobs, on a goroutine and an OS thread of its own.
type lane struct {
	pipeline *Pipeline
	number   int
	stats    *StreamStats

	thread        *cuda.Thread
	in, work, out *cuda.Stream  // out is nil of jobs without output
	zero          *cuda.Event   // where the device's times begin; nil unless traced
	zeroAt        time.Duration // when that was, since the pipeline began

	memory stageMemory
	stages []*Stage
	idle   []*Stage
	// in the order in which their jobs were taken: first those leaving, then those computing
	busy []*Stage
}

// live is the life of a lane. It sends to ready once: nil when it can take
// jobs, or the error why it cannot.
func (l *lane) live(ready chan<- error) {
	if err := l.open(); err != nil {
		ready <- err
		return
	}
	ready <- nil
	if err := invariant.Fenced(l.run); err != nil {
		l.pipeline.stop(fmt.Errorf("lane %d: %w", l.number, err))
	}
	l.pipeline.note(l.close())
	l.giveBack() // DRAINED: the streams have been waited for
}

// run takes and delivers jobs until there are no more, or the pipeline stops.
func (l *lane) run() error {
	for !l.pipeline.isStopped() {
		moved, err := l.turn()
		if err != nil {
			return err
		}
		if moved {
			continue
		}
		if len(l.busy) > 0 {
			Pause()
			continue
		}
		e, ok := l.await()
		if !ok {
			return nil
		}
		if err := l.start(e); err != nil {
			return err
		}
	}
	return nil
}

// turn does what can be done without waiting; false: nothing. What is nearest to
// its end goes first.
func (l *lane) turn() (moved bool, err error) {
	for _, do := range []func() (bool, error){l.deliver, l.fetch, l.startNext} {
		did, err := do()
		if err != nil {
			return false, err
		}
		moved = moved || did
	}
	return moved, nil
}

// startNext starts the next job, if there are one and a stage for it.
func (l *lane) startNext() (bool, error) {
	if len(l.idle) == 0 {
		return false, nil
	}
	select {
	case e, open := <-l.pipeline.queue:
		if open {
			return true, l.start(e)
		}
	default:
	}
	return false, nil
}

// await waits for a job, with nothing under way; false: none will come.
func (l *lane) await() (*entry, bool) {
	from := l.pipeline.now()
	defer func() { l.stats.Idle += l.pipeline.now() - from }()
	select {
	case e, open := <-l.pipeline.queue:
		return e, open
	case <-l.pipeline.stopped:
		return nil, false
	}
}

// start queues the job's copy in and kernels. From here on the entry is in busy,
// whatever happens (ONCE).
func (l *lane) start(e *entry) error {
	s := l.idle[len(l.idle)-1]
	l.idle = l.idle[:len(l.idle)-1]
	s.entry, s.phase = e, stageComputing
	l.busy = append(l.busy, s)
	return l.jobError(s, s.launch(l))
}

// fetch queues the copy out of the first job that computes, if it is done.
func (l *lane) fetch() (bool, error) {
	i := slices.IndexFunc(l.busy, func(s *Stage) bool { return s.phase == stageComputing })
	if i < 0 {
		return false, nil
	}
	s := l.busy[i]
	if done, err := s.steps[stepCompute].done(); err != nil || !done {
		return false, l.jobError(s, err)
	}
	s.phase = stageLeaving
	return true, l.jobError(s, s.fetch(l))
}

// deliver hands over the output of the first job, if it is here.
func (l *lane) deliver() (bool, error) {
	if len(l.busy) == 0 || l.busy[0].phase != stageLeaving {
		return false, nil
	}
	s := l.busy[0]
	if done, err := s.steps[stepOut].done(); err != nil || !done {
		return false, l.jobError(s, err)
	}
	from := l.pipeline.now()
	if err := s.entry.job.Deliver(s.result); err != nil {
		return false, l.jobError(s, fmt.Errorf("deliver: %w", err))
	}
	e := s.entry
	l.busy = slices.Delete(l.busy, 0, 1)
	l.idle = append(l.idle, s)
	s.entry, s.phase = nil, stageIdle
	l.pipeline.leave(e)
	return true, l.account(s, e, from) // the stage is as the job left it until startNext
}

// jobError adds to an error which job it befell.
func (l *lane) jobError(s *Stage, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("job %d: %w", s.entry.number, err)
}

// giveBack returns what the lane has under way when it ends.
func (l *lane) giveBack() {
	p := l.pipeline
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range l.busy {
		p.giveBack(s.entry)
	}
	l.busy = nil
}
