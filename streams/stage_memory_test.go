package streams_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/streams"
)

// beyond is a job whose kernel writes a word past the end of a part of its stage.
type beyond struct {
	rig  *rig
	part func(s *streams.Stage) cuda.Span
}

func (j *beyond) Launch(s *streams.Stage) error {
	words := uint64(j.part(s).Size) / 8
	return j.rig.kernels.Sums(s.Stream, kernels.Sweep(words), s.In.Ptr, 1, j.part(s).Ptr, words+1, s.Scratch.Ptr)
}

func (j *beyond) Output(*streams.Stage, []uint64) (cuda.Span, error) { return cuda.Span{}, nil }
func (j *beyond) Deliver([]byte) error                               { return nil }

// A kernel that writes one word past the end of a part of a stage is found out, although another
// part lies behind it.
func TestBeyondStage(t *testing.T) {
	e := emulator(t)
	if !invariant.Enabled {
		t.Skip("without invariants the stages of a lane lie in one piece of memory")
	}
	if strings.Contains(os.Getenv("GAGG_CUDA_LIBRARY"), "asan") {
		t.Skip("AddressSanitizer ends the process there")
	}
	for name, part := range map[string]func(*streams.Stage) cuda.Span{
		"input":   func(s *streams.Stage) cuda.Span { return s.In },
		"facts":   func(s *streams.Stage) cuda.Span { return s.Facts },
		"scratch": func(s *streams.Stage) cuda.Span { return s.Scratch },
	} {
		t.Run(name, func(t *testing.T) {
			e.Reset()
			defer e.Reset()
			r, thread, err := openRig()
			must(t, err)
			config := small()
			config.Streams = 1
			p, err := streams.Start(t.Context(), r.context, config)
			must(t, err)
			slot, err := p.Slot()
			must(t, err)
			p.Submit(slot, config.SlotBytes, &beyond{r, part})
			err = errors.Join(p.Finish(), p.Close(), r.context.Lost())
			if !errors.Is(err, cuda.ErrLost) {
				t.Errorf("the memory is freed as if nothing had been: %v", err)
			}
			if leaks := strings.Join(e.Leaks(), "\n"); !strings.Contains(leaks, "written to outside its bounds") {
				t.Errorf("the emulator says %q", leaks)
			}
			thread.Unlock()
			_ = r.context.Close() // it is lost
		})
	}
}
