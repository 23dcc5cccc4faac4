package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// contender is a way of handing out units of memory inside kernels. Its
// launches end up in the stream; nothing waits.
type contender interface {
	name() string
	// fill chooses a share of units to be free, which reset then brings about,
	// others every time or the same. It returns how many units are free, and waits
	// for that.
	fill(s *cuda.Stream, share float64) (free int, err error)
	reset(s *cuda.Stream) error
	// get takes n units, one a thread, and holds them; give gives those back.
	get(s *cuda.Stream, n int) error
	give(s *cuda.Stream, n int) error
	// check looks at the n units that are held, once the stream is done: each
	// thread has one, no two the same.
	check(n int) error
	close() error
}

// limited is a contender that is too slow for larger bursts than most.
type limited interface{ most() int }

// counting is a contender that counts the steps of its threads.
type counting interface {
	contender
	// count is get, counted; it waits for the end.
	count(s *cuda.Stream, n int) (steps, error)
	// formulas is what the analysis of the paper says of such a burst.
	formulas(b reference.Steps) formulas
}

// steps is what threads needed until they had a unit.
type steps struct {
	Thread float64 `json:"thread"` // on average
	Warp   float64 `json:"warp"`   // of the slowest thread of a warp, on average
}

// formulas is what steps should be.
type formulas struct {
	Thread float64 `json:"thread"` // the average; 0: there is no formula
	Warp   float64 `json:"warp"`   // an upper bound; 0: none
	Bound  bool    `json:"bound"`  // Thread is an upper bound too
}

// threads is the size of a block, which suits all contenders, who use few
// registers and no shared memory.
const threads = 256

// grid has n threads or a few more.
func grid(n int) cuda.Grid {
	return cuda.Grid{Blocks: uint32((n + threads - 1) / threads), Threads: threads}
}

// bench is the device and what the contenders share.
type bench struct {
	thread *cuda.Thread
	most   int          // units held at once
	held   *cuda.Memory // of each thread the unit it got, 4 or 8 bytes
	counts *cuda.Memory // what kernels count, countBytes
	opened []interface{ Close() error }
}

const countBytes = 64

func newBench(t *cuda.Thread, most int) (*bench, error) {
	b := &bench{thread: t, most: most}
	var err error
	if b.held, err = b.alloc(8 * most); err == nil {
		b.counts, err = b.alloc(countBytes)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// alloc is device memory that lives as long as the bench.
func (b *bench) alloc(bytes int) (*cuda.Memory, error) {
	m, err := b.thread.Alloc(cuda.Size(bytes))
	if err == nil {
		b.opened = append(b.opened, m)
	}
	return m, err
}

func (b *bench) close() error {
	var errs []error
	for _, o := range b.opened {
		errs = append(errs, o.Close())
	}
	return errors.Join(errs...)
}

// counted runs a kernel that counts, and returns the 64-bit words it counted to.
func (b *bench) counted(s *cuda.Stream, words int, launch func(counts cuda.Ptr) error) ([]uint64, error) {
	if err := s.Fill(b.counts.Span(), 0); err != nil {
		return nil, err
	}
	if err := launch(b.counts.Span().Ptr); err != nil {
		return nil, err
	}
	if err := s.Synchronize(); err != nil {
		return nil, err
	}
	raw := make([]byte, 8*words)
	if err := b.thread.Read(raw, b.counts.Span().Slice(0, cuda.Size(len(raw)))); err != nil {
		return nil, err
	}
	list := make([]uint64, words)
	for i := range list {
		list[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return list, nil
}

// What check finds: threads that got nothing, or the same as another one.
var (
	errNone  = errors.New("out of memory")
	errTwice = errors.New("handed out twice")
)

// checkHeld looks at n units of 4 or 8 bytes, of which none stands for no unit.
func (b *bench) checkHeld(n, size int, none uint64) error {
	raw := make([]byte, n*size)
	if err := b.thread.Read(raw, b.held.Span().Slice(0, cuda.Size(len(raw)))); err != nil {
		return err
	}
	list := make([]uint64, n)
	for i := range list {
		if at := raw[i*size:]; size == 4 {
			list[i] = uint64(binary.LittleEndian.Uint32(at))
		} else {
			list[i] = binary.LittleEndian.Uint64(at)
		}
	}
	slices.Sort(list)
	refused, twice := 0, 0
	for i, unit := range list {
		switch {
		case unit == none:
			refused++
		case i > 0 && unit == list[i-1]:
			twice++
		}
	}
	if twice > 0 {
		return fmt.Errorf("%w: %d of %d units", errTwice, twice, n)
	}
	if refused > 0 {
		return fmt.Errorf("%w: %d of %d threads got nothing", errNone, refused, n)
	}
	return nil
}
