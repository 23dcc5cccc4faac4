package extsort

import (
	"context"
	"errors"
	"math"
)

// stepsBetween is after how many rows a merge looks whether it is to stop.
const stepsBetween = 4096

// openFile makes the sorter's file, if there is none.
func (s *Sorter) openFile() (err error) {
	if s.file == nil {
		s.file, err = s.cfg.Spill()
	}
	return err
}

// spill makes one run on disk of all rows in memory.
func (s *Sorter) spill(ctx context.Context) error {
	if s.cfg.Spill == nil || s.block == nil {
		return errNoSpill
	}
	if err := s.openFile(); err != nil {
		return err
	}
	s.sort()
	if len(s.runs) == 0 {
		return nil
	}
	run, err := s.write(ctx, s.memCursors())
	if err != nil {
		return err
	}
	s.disk = append(s.disk, run)
	s.forget(s.runs)
	s.runs = nil
	return nil
}

// spillOr spills because of a refusal, which is the error if there is nowhere
// to spill to.
func (s *Sorter) spillOr(ctx context.Context, refusal error) error {
	err := s.spill(ctx)
	if errors.Is(err, errNoSpill) {
		return refusal
	}
	return err
}

// write merges cursors into a run on disk, of as many rows as are wanted.
func (s *Sorter) write(ctx context.Context, cursors []*cursor) (*diskRun, error) {
	w := runWriter{file: s.file, block: s.block[:0]}
	err := s.each(ctx, cursors, func(r row) error { return w.add(ctx, r) })
	if err == nil {
		err = w.flush(ctx)
	}
	return &w.run, err
}

// each calls do with the rows of cursors, in order, as many as are wanted. It
// learns the bound from them.
func (s *Sorter) each(ctx context.Context, cursors []*cursor, do func(row) error) error {
	t, err := newTree(ctx, cursors)
	if err != nil {
		return err
	}
	most := int64(math.MaxInt64)
	if s.cfg.Keep >= 0 {
		most = s.cfg.Keep
	}
	for n := int64(0); t.top().current != nil && n < most; n++ {
		r := t.top().current
		if err := do(r); err != nil {
			return err
		}
		if n == most-1 {
			s.bound = append(s.bound[:0], r.key()...)
		}
		if n%stepsBetween == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := t.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// memCursors are at the runs in memory.
func (s *Sorter) memCursors() []*cursor {
	cursors := make([]*cursor, len(s.runs))
	for i, m := range s.runs {
		cursors[i] = memCursor(m, s.file)
	}
	return cursors
}
