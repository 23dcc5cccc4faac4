package firstpass_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// madeFeed submits rows in chunks, of which a slot holds one. The device makes several copies: more
// rows than a slot has room for. When all jobs are settled, madeFeed submits the declined chunks as
// rows.
type madeFeed struct {
	layout *ega.Layout
	chunks [][]uint64
	times  int // copies that a job makes of its chunk
	// how many of the copies pass a filter; nil: all do, and there is none
	keeps   func(chunk int) int
	plain   func(chunk int) bool   // it is submitted as rows from the beginning; nil: none is
	decline func(chunk int) uint64 // the reason; nil: none is
	fails   int                    // the chunk whose Make returns errMake, from 1

	jobs    []*copier
	settled chan *copier
}

var errMake = errors.New("no kernel")

// newMadeFeed is a feed of rows, `chunk` of them in a chunk, and all the rows that are made of
// them.
func newMadeFeed(l *ega.Layout, rows []uint64, chunk, times int) (f *madeFeed, all []uint64) {
	f = &madeFeed{layout: l, times: times, chunks: slices.Collect(slices.Chunk(rows, chunk*l.Stride()))}
	for _, c := range f.chunks {
		all = append(all, slices.Repeat(c, times)...)
	}
	return f, all
}

// copies is how many copies of a chunk pass the filter.
func (f *madeFeed) copies(chunk int) int {
	if f.keeps == nil {
		return f.times
	}
	return f.keeps(chunk)
}

// passed is all rows that pass the filter.
func (f *madeFeed) passed() (all []uint64) {
	for i, c := range f.chunks {
		all = append(all, slices.Repeat(c, f.copies(i))...)
	}
	return all
}

// madeWork is the work memory of a job.
const madeWork = 1 << 15

// config is what the pass needs for the jobs.
func (f *madeFeed) config() firstpass.MadeConfig {
	most := 0
	for _, c := range f.chunks {
		most = max(most, len(c)/f.layout.Stride()*f.times)
	}
	return firstpass.MadeConfig{Rows: most, WorkBytes: madeWork}
}

// feed submits all, from two goroutines.
func (f *madeFeed) feed(m *firstpass.Pass) error {
	f.jobs, f.settled = make([]*copier, len(f.chunks)), make(chan *copier, 2*len(f.chunks))
	errs := make(chan error, 2)
	for first := range 2 {
		go func() { errs <- f.submit(m, first) }()
	}
	if err := bounded.Errors("goroutines that submit jobs", 2, errs); err != nil {
		return err
	}
	ctx, cancel := bounded.Context("jobs that are settled")
	defer cancel()
	for _, j := range f.jobs {
		if j == nil {
			continue
		}
		select {
		case done := <-f.settled:
			if done.stop == 0 {
				continue
			}
			if err := f.rows(m, done.chunk); err != nil {
				return err
			}
		case <-m.Stopped():
			return nil // Finish says why
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// submit submits every other chunk.
func (f *madeFeed) submit(m *firstpass.Pass, first int) error {
	ctx, cancel := bounded.Context("a slot")
	defer cancel()
	for i := first; i < len(f.chunks); i += 2 {
		if f.plain != nil && f.plain(i) {
			if err := f.rows(m, i); err != nil {
				return err
			}
			continue
		}
		s, err := m.Slot(ctx)
		if err != nil {
			return err
		}
		f.jobs[i] = &copier{feed: f, chunk: i}
		n := copy(wordsIn(s), f.chunks[i])
		if err := m.SubmitMade(s, 8*n, n/f.layout.Stride()*f.times, f.jobs[i]); err != nil {
			m.Release(s)
			return err
		}
	}
	return nil
}

// rows submits a chunk as rows.
func (f *madeFeed) rows(m *firstpass.Pass, chunk int) error {
	return feedPart(m, f.layout, slices.Repeat(f.chunks[chunk], f.copies(chunk)))
}

// check reports a job that was not settled once, as it should have been.
func (f *madeFeed) check() error {
	for i, j := range f.jobs {
		if j == nil {
			continue
		}
		want := uint64(0)
		if f.decline != nil {
			want = f.decline(i)
		}
		if n := j.told.Load(); n != 1 || j.stop != want {
			return fmt.Errorf("chunk %d was settled %d times, with %d, want %d", i, n, j.stop, want)
		}
		if rows := len(f.chunks[i]) / f.layout.Stride() * f.copies(i); want == 0 && j.rows != rows {
			return fmt.Errorf("chunk %d was settled with %d rows, want %d", i, j.rows, rows)
		}
	}
	return nil
}

// copier is a Maker whose rows are copies of the slot's, by way of the work memory; or rubbish, if
// they are declined.
type copier struct {
	feed  *madeFeed
	chunk int
	stop  uint64
	rows  int
	told  atomic.Int32
}

func (c *copier) Make(s *cuda.Stream, in, work cuda.Span, out firstpass.Made) error {
	f := c.feed
	if size := cuda.Size(8 * len(f.chunks[c.chunk])); in.Size != size || out.Rows.Size != cuda.Size(f.times)*size ||
		work.Size != madeWork || out.Stop.Size != 8 || out.Made.Size != 8 {
		return fmt.Errorf("job of %v: in %v, work %v, out %v", size, in, work, out)
	}
	if c.chunk+1 == f.fails {
		return errMake
	}
	if f.decline != nil && f.decline(c.chunk) != 0 {
		return errors.Join(s.Fill(out.Rows, 0x5a), s.Fill(out.Stop.Slice(0, 1), byte(f.decline(c.chunk))))
	}
	copied := work.Slice(work.Size-in.Size, work.Size)
	errs := []error{s.Fill(work, 0xee), s.Fill(out.Rows, 0x5a), s.Copy(copied, in)}
	for t := range f.copies(c.chunk) {
		errs = append(errs, s.Copy(out.Rows.Slice(cuda.Size(t)*in.Size, cuda.Size(t+1)*in.Size), copied))
	}
	if c.Filters() {
		n := len(f.chunks[c.chunk]) / f.layout.Stride() * f.copies(c.chunk)
		errs = append(errs, s.Fill(out.Made.Slice(0, 1), byte(n)), s.Fill(out.Made.Slice(1, 2), byte(n>>8)))
	}
	return errors.Join(errs...)
}

func (c *copier) Filters() bool { return c.feed.keeps != nil }

func (c *copier) Settled(stop uint64, rows int) {
	c.stop, c.rows = stop, rows
	c.told.Add(1)
	c.feed.settled <- c
}
