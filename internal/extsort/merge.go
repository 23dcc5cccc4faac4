package extsort

import (
	"context"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

const (
	// groupRows is how many rows are taken apart at a time: column by column,
	// while they are in the cache.
	groupRows = 512
	// narrow is how many bytes of values many rows may have together without
	// being counted one by one. Narrow rows are never far.
	narrow = leastSize / farShare
)

// Merger merges the rows of sorters that are finished, and makes batches of
// them.
type Merger struct {
	lay     layout
	cursors []*cursor
	tree    *tree // nil: no batch was made yet
	wide    bool  // there may be rows that are not narrow
	rows    int   // of a batch
	bytes   int
	left    int64 // rows that are still wanted

	newLarge func(ctx context.Context, bytes int) (*column.LargeRow, error)
	large    *column.LargeRow // of the batch; nil: it is an ordinary one

	batch column.Batch
	made  int // bytes of values in the batch
	group []row
	vals  [][]byte
	far   []byte
}

// NewMerger merges sorters that have the same Terms, Cols and Keep. A batch has at most
// `rows` rows and about `bytes` bytes of values, or one row. A row of more bytes lies in the memory
// that large makes, see LargeRow; nil: it is a batch like others.
func NewMerger(sorters []*Sorter, rows, bytes int, large func(ctx context.Context, bytes int) (*column.LargeRow, error)) *Merger {
	m := &Merger{rows: rows, bytes: bytes, newLarge: large, left: math.MaxInt64}
	for _, s := range sorters {
		if s.cfg.Keep >= 0 {
			m.left = s.cfg.Keep
		}
		m.lay = s.in.lay
		m.cursors = append(m.cursors, s.memCursors()...)
		for _, d := range s.disk {
			m.cursors = append(m.cursors, diskCursor(d, s.file))
		}
	}
	for _, c := range m.cursors {
		m.wide = m.wide || c.widest() > narrow
	}
	return m
}

// Close frees the buffers. The sorters are closed after it.
func (m *Merger) Close() {
	for _, c := range m.cursors {
		c.close()
	}
	m.cursors, m.tree = nil, nil
}

// Skip passes over the next n rows, of which nothing is made.
func (m *Merger) Skip(ctx context.Context, n int64) error {
	if n == 0 || len(m.cursors) == 0 {
		return nil
	}
	if err := m.begin(ctx); err != nil {
		return err
	}
	for i := int64(0); i < n && m.tree.top().current != nil; i++ {
		if i%stepsBetween == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := m.tree.step(ctx); err != nil {
			return err
		}
	}
	m.left = max(m.left-n, 0)
	return nil
}

// begin makes the tree, unless it is there.
func (m *Merger) begin(ctx context.Context) (err error) {
	if m.tree == nil {
		m.tree, err = newTree(ctx, m.cursors)
	}
	return err
}

// Next returns the next rows, nil at the end. They are valid until the next
// call.
func (m *Merger) Next(ctx context.Context) (*column.Batch, error) {
	if len(m.cursors) == 0 {
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	if m.large != nil {
		m.large, m.batch = nil, column.Batch{}
	}
	m.lay.begin(&m.batch)
	m.made = 0
	for more := true; more; {
		var err error
		if more, err = m.move(ctx); err != nil {
			return nil, err
		}
	}
	m.flush()
	if m.batch.Rows == 0 {
		return nil, nil
	}
	m.lay.end(&m.batch)
	return &m.batch, nil
}

// move takes one row, and reports whether there may be another one.
func (m *Merger) move(ctx context.Context) (bool, error) {
	c := m.tree.top()
	if c.current == nil || m.left == 0 || m.batch.Rows+len(m.group) == m.rows {
		return false, nil
	}
	if m.wide && c.current.valueBytes() > narrow {
		m.flush()
		if m.batch.Rows > 0 && m.made+c.current.valueBytes() > m.bytes {
			return false, nil
		}
		if c.current.valueBytes() > m.bytes && m.newLarge != nil && m.batch.Rows == 0 {
			m.left--
			return false, m.takeLarge(ctx, c)
		}
		if err := m.addWide(ctx, c); err != nil {
			return false, err
		}
	} else {
		m.group = append(m.group, c.current)
		if len(m.group) == groupRows || len(m.group)*narrow >= m.bytes || c.overwrites() {
			m.flush()
		}
	}
	m.left--
	return m.made < m.bytes, m.tree.step(ctx)
}

// flush takes the rows of the group apart.
func (m *Merger) flush() {
	m.vals = m.vals[:0]
	for _, r := range m.group {
		v := r.rest()
		m.vals = append(m.vals, v)
		m.made += len(v)
	}
	m.lay.add(&m.batch, m.vals)
	m.group = m.group[:0]
}

// addWide takes the current row of c apart, wherever its values are.
func (m *Merger) addWide(ctx context.Context, c *cursor) (err error) {
	v := c.current.rest()
	if c.current.far() {
		if m.far, err = getFar(ctx, m.far[:0], c.current, c.file); err != nil {
			return err
		}
		v = m.far
	}
	m.made += len(v)
	m.vals = append(m.vals[:0], v)
	m.lay.add(&m.batch, m.vals)
	return nil
}
