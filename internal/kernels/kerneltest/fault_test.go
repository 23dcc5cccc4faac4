package kerneltest_test

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// A kernel that fails is seen by whoever waits for it, and the context is lost.
func TestFaults(t *testing.T) {
	for name, launch := range map[string]func(*kerneltest.Fault, *cuda.Stream) error{
		"trap":  func(k *kerneltest.Fault, s *cuda.Stream) error { return k.Trap(s, one) },
		"write": func(k *kerneltest.Fault, s *cuda.Stream) error { return k.Write(s, one, 64) },
	} {
		t.Run(name, func(t *testing.T) {
			if gputest.Sanitized() {
				t.Skip("the fault is on purpose")
			}
			if name == "write" && gputest.Emulated() {
				t.Skip("on the emulator a stray pointer ends the process")
			}
			if !gputest.Alone(t) {
				return
			}
			thread := gputest.Open(t)
			stream := gputest.Keep(t, thread.NewStream)
			fault := gputest.Make(t, func() (*kerneltest.Fault, error) { return kerneltest.LoadFault(thread) })
			if err := launch(fault, stream); err != nil {
				t.Fatal(err)
			}
			if err := stream.Synchronize(); !errors.Is(err, cuda.ErrLaunch) || !errors.Is(err, cuda.ErrLost) {
				t.Errorf("waiting gives %v, want a failed kernel and a lost context", err)
			}
			if err := fault.Trap(stream, one); !errors.Is(err, cuda.ErrLost) {
				t.Errorf("the next launch gives %v, want a lost context", err)
			}
		})
	}
}
