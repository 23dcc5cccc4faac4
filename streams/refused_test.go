package streams_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/streams"
)

// F73: pinning is refused from some request on, or once. The pipeline then works with fewer slots,
// and with pageable ones, and reports what was refused.
func TestPinningRefused(t *testing.T) {
	e := emulator(t)
	checkGoroutines(t)
	config := small()
	// pageable copies are timed by the lane
	config.Timed = true
	requests := config.Slots + 2*config.Streams*config.Depth // each stage has facts and an output
	for nth := 1; nth <= requests; nth++ {
		for _, forever := range []bool{true, false} {
			l := faulty(t, e, config, "cuMemHostAlloc", nth, outOfMemory, forever)
			if l.err != nil || len(l.stats.Refused) == 0 || !errors.Is(errors.Join(l.stats.Refused...), cuda.ErrOutOfMemory) {
				t.Errorf("request %d is refused: %v; done without %v", nth, l.err, l.stats.Refused)
			}
			if s := l.stats; s.Slots < 2 || s.Slots > config.Slots || s.PageableSlots > 2 {
				t.Errorf("request %d is refused: %d slots, %d of them pageable", nth, s.Slots, s.PageableSlots)
			}
			if nth == 1 && forever && l.stats.PageableSlots != 2 {
				t.Errorf("nothing can be pinned: %d pageable slots", l.stats.PageableSlots)
			}
		}
	}
}

// F64: device memory is refused from some request on, or once: fewer lanes and stages do, but not
// none. A lane asks once for all its stages, or with invariants for each part of each stage, while
// others ask too.
func TestDeviceMemoryRefused(t *testing.T) {
	e := emulator(t)
	checkGoroutines(t)
	config := small()
	ofLane := 1
	if invariant.Enabled {
		ofLane = 3 * config.Depth
	}
	for nth := 1; nth <= config.Streams*ofLane; nth++ {
		l := faulty(t, e, config, "cuMemAlloc_v2", nth, outOfMemory, true)
		switch most, got := (nth-1)/ofLane, stagesOf(l.stats); {
		case got == 0 && (most == 0 || ofLane > 1):
			if !errors.Is(l.err, cuda.ErrOutOfMemory) {
				t.Errorf("no device memory at all: %v", l.err)
			}
		case l.err != nil || got > most*config.Depth || ofLane == 1 && got < most*config.Depth:
			t.Errorf("room for the stages of %d lanes: %v; there are %d", most, l.err, got)
		}
		l = faulty(t, e, config, "cuMemAlloc_v2", nth, outOfMemory, false)
		if got := stagesOf(l.stats); l.err != nil || got != config.Streams*config.Depth-1 || len(l.stats.Refused) == 0 {
			t.Errorf("request %d is refused: %v; there are %d stages; %v", nth, l.err, got, l.stats.Refused)
		}
	}
}

func stagesOf(s streams.Stats) int {
	n := 0
	for _, lane := range s.Streams {
		n += lane.Stages
	}
	return n
}

// Budgets of all sizes: the pipeline is built within them, or says that it cannot be.
// (run checks that all is given back.)
func TestBudgets(t *testing.T) {
	r := newRig(t)
	config := small()
	slot, stage := int64(config.SlotBytes), int64(8*maxWords+64)
	worked, failed := 0, 0
	for limit := int64(1); limit < 12*slot; limit += slot / 3 {
		for _, host := range []bool{true, false} {
			r.hostLimit, r.deviceLimit = 0, 0
			if host {
				r.hostLimit = limit
			} else {
				r.deviceLimit = limit
			}
			err := r.run(context.Background(), t, config, r.jobs(20, 3, nil), 3)
			name := fmt.Sprintf("host %v, limit %d", host, limit)
			switch {
			case err == nil:
				worked++
				if short := r.stats.Slots < config.Slots || stagesOf(r.stats) < 4; short != (len(r.stats.Refused) > 0) {
					t.Errorf("%s: %+v", name, r.stats)
				}
			case host && errors.Is(err, budget.Memory), !host && errors.Is(err, budget.Device):
				failed++
				if limit > 9*slot+4*stage {
					t.Errorf("%s: %v", name, err)
				}
			default:
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if worked == 0 || failed == 0 {
		t.Errorf("%d budgets were enough, %d were not", worked, failed)
	}
}
