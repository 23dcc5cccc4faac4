package extsort

import "context"

// prune keeps the best of the rows in memory, as many as are wanted, in pages
// of their own. If there is no memory for these, they go to disk.
func (s *Sorter) prune(ctx context.Context) error {
	s.sort()
	all := s.runs
	cursors := s.memCursors()
	s.runs = nil
	err := s.each(ctx, cursors, func(r row) error {
		if _, err := s.tryRoom([]int{r.len()}); err != nil {
			return err
		}
		s.copyRow(r)
		return nil
	})
	s.sort()
	if err == nil {
		s.forget(all)
		return nil
	}
	s.forget(s.runs)
	s.runs = all
	if ctx.Err() != nil {
		return err
	}
	return s.spillOr(ctx, err)
}
