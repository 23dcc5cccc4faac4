package parquetio

import "github.com/gagg-dev/gagg/internal/column"

// This file passes over rows that the statistics of pages rule out. The columns that the test of a
// scan asks for (ScanOptions.Skip) are cut where any of them begins a page, and each part is
// judged as row groups are:
//
//	a  |  1…40   |  41…80  |  81…120  |     a = 50 and b = 7
//	b  |    1…5      |  5…9    | 2…4  |
//	   |no       |no |may|  no |  no  |
//
// Columns of the filter's first step are judged by the index or the headers of their pages; others,
// whose headers would be read for nothing, where they have an index.

// judge is the bounds and statistics of the open unit, for the filter's test.
type judge struct {
	cols   []bool // by column: it is open, and moves on with what is judged
	groups []func() column.Bounds
	clear  int64 // rows from here on that may match
}

// openJudge begins to judge the row group of a unit, whose early columns are open.
func (r *Reader) openJudge(u *Unit) error {
	j := &r.where.judge
	clear(j.cols)
	for _, i := range r.scan.skipCols {
		j.groups[i] = r.scan.groupBounds(r.file, u.Group, i)
		c := r.cols[i]
		switch {
		case c == nil:
		case r.early(i):
			c.readIndex()
			c.judged, j.cols[i] = true, true
		default:
			var err error
			if j.cols[i], err = c.openJudged(u.Group); err != nil {
				return err
			}
		}
	}
	return nil
}

// openJudged is openLate where the chunk has a page index.
func (c *columnReader) openJudged(group int) (ok bool, err error) {
	c.begin(group)
	if c.readIndex(); len(c.index.places) == 0 {
		return false, nil
	}
	c.judged, c.sparse = true, true
	return true, c.start(c.skipDictionary)
}

// mayMatch passes over rows that are ruled out, and returns how many of the next rows to read at
// once.
func (r *Reader) mayMatch(u *Unit) (n int, err error) {
	j := &r.where.judge
	if len(r.scan.skipCols) == 0 {
		return r.batchSize(u, r.early)
	}
	for {
		if n, err = r.batchSize(u, r.early); n == 0 || err != nil {
			return n, err
		}
		if j.clear == 0 {
			rows, may, err := r.judgePart(u)
			if err != nil {
				return 0, err
			}
			if !may {
				if err := r.skipRows(rows); err != nil {
					return 0, err
				}
				continue
			}
			j.clear = rows
		}
		n = int(min(int64(n), j.clear))
		j.clear -= int64(n)
		return n, nil
	}
}

// judgePart tells whether any of the next rows may match, up to where a judged column begins a
// page.
func (r *Reader) judgePart(u *Unit) (rows int64, may bool, err error) {
	rows = u.Rows - r.done
	known := false
	for _, i := range r.scan.skipCols {
		c := r.cols[i]
		if !r.where.judge.cols[i] {
			continue
		}
		if r.late(i) {
			if err := r.where.follow(i, c); err != nil {
				return 0, false, err
			}
		}
		have, err := c.available()
		if err != nil {
			return 0, false, err
		}
		if have > 0 { // else reading the column finds that it is short
			rows = min(rows, int64(have))
			known = known || c.known
		}
	}
	return rows, !known || !r.scan.skip(r.pageBounds), nil
}

// pageBounds is the bounds of column i in the current rows.
func (r *Reader) pageBounds(i int) column.Bounds {
	all := r.where.judge.groups[i]()
	c := r.cols[i]
	if c == nil || !r.where.judge.cols[i] || !c.known || c.left == 0 {
		return all
	}
	b := c.bounds
	b.MaybeIn = all.MaybeIn
	return b
}

// skipRows skips the next n rows of the unit.
func (r *Reader) skipRows(n int64) error {
	r.done += n
	r.skipped.rows += n
	return r.skipInGroup(n)
}

// skipInGroup skips the next n rows of the row group.
func (r *Reader) skipInGroup(n int64) error {
	for i, c := range r.cols {
		if c == nil || !r.early(i) {
			continue
		}
		if err := c.skip(n); err != nil {
			return err
		}
	}
	if r.where != nil {
		r.where.leave(n)
	}
	return nil
}

// unreadCounts is the pages and rows that were skipped in units that were read.
type unreadCounts struct {
	pages int64 // not decompressed
	rows  int64 // ruled out by statistics
}

// groupBounds is bounds, looked up at the first call. Answers of a bloom filter are remembered.
func (s *Scan) groupBounds(file, group, i int) func() column.Bounds {
	var b column.Bounds
	known := false
	return func() column.Bounds {
		if !known {
			b, known = s.bounds(file, group, i), true
			b.MaybeIn = remembered(b.MaybeIn)
		}
		return b
	}
}

// remembered is the filter with a memory.
func remembered(filter func(column.Value) bool) func(column.Value) bool {
	if filter == nil {
		return nil
	}
	said := map[column.Value]bool{}
	return func(v column.Value) bool {
		maybe, ok := said[v]
		if !ok {
			maybe = filter(v)
			said[v] = maybe
		}
		return maybe
	}
}
