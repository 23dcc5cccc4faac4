package streams_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/streams"
)

// silent is a job that asks for its facts while it is launched, and puts nothing out.
type silent struct{ *job }

func (j silent) Launch(s *streams.Stage) error {
	if err := j.job.Launch(s); err != nil {
		return err
	}
	facts, err := s.Ask()
	if err == nil && (facts[0] != uint64(8*j.sums) || facts[1] != uint64(j.words)) {
		err = fmt.Errorf("job %d is told %v, it has %d words and %d sums", j.number, facts, j.words, j.sums)
	}
	return err
}

func (j silent) Output(s *streams.Stage, facts []uint64) (cuda.Span, error) {
	_, err := j.job.Output(s, facts)
	return cuda.Span{}, err
}

func (j silent) Deliver(out []byte) error {
	if len(out) > 0 {
		return fmt.Errorf("job %d: %d bytes", j.number, len(out))
	}
	j.delivered.Add(1)
	return nil
}

// What a job costs in calls of the driver, beside its own: of one without output no more than its
// copy in, a kernel that tells the facts each time that they are asked for, and two times. What a
// pipeline costs is two events for each of the two steps of a stage, and two streams.
func TestCalls(t *testing.T) {
	r := newRig(t)
	config := small()
	config.Streams, config.OutBytes, config.Timed = 1, streams.NoOutput, true
	e, emulated := emu.Control()
	count := func() map[string]int {
		if !emulated {
			return nil
		}
		return e.Calls()
	}
	before := count()
	p, err := streams.Start(within(t, "the pipeline"), r.context, config)
	must(t, err)
	const jobs = 10
	for _, j := range r.jobs(jobs, 7, nil) {
		slot, err := p.Slot()
		must(t, err)
		p.Submit(slot, j.fill(slot.Bytes()), silent{j})
	}
	bounded.Wait(t, "the end of a pipeline", func() { err = p.Finish() })
	must(t, errors.Join(err, p.Close()))
	if s := p.Stats().Streams[0]; s.Jobs != jobs || s.BytesOut != 0 || s.CopyIn <= 0 || s.Kernels <= 0 {
		t.Errorf("%+v", s)
	}
	after := count()
	for call, want := range map[string]int{
		"cuStreamCreate": 2, "cuEventCreate": 4 * config.Depth, "cuEventElapsedTime": 2 * jobs, "cuEventRecord": 4 * jobs,
		"cuStreamWaitEvent": jobs, "cuMemcpyDtoHAsync_v2": 0, "cuMemsetD8Async": jobs, "cuLaunchKernel": 3 * jobs,
	} {
		if got := after[call] - before[call]; emulated && got != want {
			t.Errorf("%s: %d calls, want %d", call, got, want)
		}
	}
}
