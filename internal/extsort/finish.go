package extsort

import (
	"context"

	"github.com/gagg-dev/gagg/internal/hostmem"
)

// Finish says that there are no more rows. It sorts those that are not sorted
// yet, and sees to it that there is a buffer for each run on disk.
func (s *Sorter) Finish(ctx context.Context) error {
	s.sort()
	s.mem.trim()
	if len(s.disk) > 0 && s.drawBuffers(s.disk) != nil {
		if err := s.reduce(ctx); err != nil {
			return err
		}
	}
	if s.block != nil {
		s.mem.release(int64(cap(s.block)))
		hostmem.Free(s.block)
		s.block = nil
	}
	return nil
}

// drawBuffers draws the memory to read these runs.
func (s *Sorter) drawBuffers(runs []*diskRun) error { return s.mem.draw(bufferBytes(runs)) }

func bufferBytes(runs []*diskRun) (n int64) {
	for _, d := range runs {
		n += int64(d.largest)
	}
	return n
}

// reduce merges runs on disk until a buffer for each is granted. Rows still in
// memory make room first.
//
// It ends: each merge makes fewer runs, and two that do not fit in memory are
// an error.
func (s *Sorter) reduce(ctx context.Context) error {
	if s.rows > 0 {
		if err := s.spill(ctx); err != nil {
			return err
		}
	}
	for {
		err := s.drawBuffers(s.disk)
		if err == nil {
			return nil
		}
		n, err := s.takeSome(err)
		if err != nil {
			return err
		}
		if err := s.mergeFirst(ctx, n); err != nil {
			return err
		}
	}
}

// takeSome takes the memory to read some of the first runs at a time: as many
// as must be merged so that the next merge is the last, or as many as are
// granted.
func (s *Sorter) takeSome(refusal error) (int, error) {
	most := len(s.disk)
	for most > 1 && s.drawBuffers(s.disk[:most]) != nil {
		most--
	}
	if most < 2 {
		if most == 1 {
			s.mem.release(bufferBytes(s.disk[:1]))
		}
		return 0, refusal
	}
	n := max(2, min(most, len(s.disk)-most+1))
	s.mem.release(bufferBytes(s.disk[n:most]))
	return n, nil
}

// mergeFirst makes one run of the first n runs on disk, for whose buffers
// memory was taken.
func (s *Sorter) mergeFirst(ctx context.Context, n int) error {
	first := s.disk[:n]
	defer s.mem.release(bufferBytes(first))
	cursors := make([]*cursor, n)
	for i, d := range first {
		cursors[i] = diskCursor(d, s.file)
		defer cursors[i].close()
	}
	run, err := s.write(ctx, cursors)
	if err != nil {
		return err
	}
	s.disk = append(s.disk[n:], run)
	return nil
}
