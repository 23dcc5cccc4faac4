package secondpass

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// stage is one of the two buffers of a Pass, and its twin on the device.
type stage struct {
	pinned *cuda.Pinned
	words  []uint64 // of the pinned buffer
	device cuda.Span
	// rows in the buffer, or in pinned memory of the caller; those that were sent to the twin come
	// first
	rows int
	sent int  // how many of them were sent to the twin
	ours bool // the buffer may be written: no copy of it is under way
	// moved: the last copy between buffer and twin has ended. worked: the last kernels that read
	// or filled the twin have ended.
	moved, worked *cuda.Event
}

func (s *stage) open(t *cuda.Thread, host budget.Lender, size cuda.Size) (err error) {
	if s.pinned, err = t.AllocPinnedFrom(host, size); err != nil {
		return err
	}
	s.words = s.pinned.Words()
	for _, e := range []**cuda.Event{&s.moved, &s.worked} {
		if *e, err = t.NewEvent(); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) close() error {
	var err error
	for _, e := range []*cuda.Event{s.moved, s.worked} {
		if e != nil {
			err = errors.Join(err, e.Close())
		}
	}
	if s.pinned != nil {
		err = errors.Join(err, s.pinned.Close())
	}
	return err
}

// facts holds the numbers that a Pass reads from the device. On the device it has a count of
// groups, and a word that is always 0. On the host it has one word for each number that is read.
type facts struct {
	kernels *kernels.Facts
	device  cuda.Span
	pinned  *cuda.Pinned
	words   []uint64
	counted *cuda.Event // the count of groups has come
}

// Words of facts on the host.
const (
	factGroups  = iota // of the table, when it was counted
	factRefused        // rows that the table refused: 0, unless LOAD-MAX is broken
	// groups of the part of the table in stage 0; behind it, of that in stage 1
	factPart
	hostFactWords = factPart + 2
)

const (
	deviceFacts cuda.Size = 16
	hostFacts             = 8 * hostFactWords
)

func (f *facts) open(t *cuda.Thread, host budget.Lender) (err error) {
	if f.kernels, err = kernels.LoadFacts(t); err != nil {
		return err
	}
	if f.pinned, err = t.AllocPinnedFrom(host, hostFacts); err != nil {
		return err
	}
	f.words = f.pinned.Words()
	f.counted, err = t.NewEvent()
	return err
}

func (f *facts) close() error {
	var err error
	if f.counted != nil {
		err = f.counted.Close()
	}
	if f.pinned != nil {
		err = errors.Join(err, f.pinned.Close())
	}
	return err
}

// count is the word on the device for a count; unused is the word that is 0.
func (f *facts) count() cuda.Span  { return f.device.Slice(0, 8) }
func (f *facts) unused() cuda.Span { return f.device.Slice(8, 16) }

// fetch queues the copy of a word from the device.
func (f *facts) fetch(s *cuda.Stream, fact int, from cuda.Ptr) error {
	return f.kernels.Tell(s, kernels.Sweep(1), from, f.pinned.Device().Ptr+8*cuda.Ptr(fact), 1)
}
