package extsort

import (
	"context"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// LargeRow is the memory of the batch that Next has returned, if that is one large row; else nil.
// The caller ends it by Done.
func (m *Merger) LargeRow() *column.LargeRow { return m.large }

// takeLarge makes the current row of c, which has too many bytes for a batch, a batch of its own,
// and goes on to the next.
func (m *Merger) takeLarge(ctx context.Context, c *cursor) error {
	n := c.current.valueBytes()
	l, err := m.newLarge(ctx, n)
	if err != nil {
		return err
	}
	if err = m.addLarge(ctx, c, l, n); err == nil {
		err = m.tree.step(ctx)
	}
	if err != nil {
		l.Done()
		return err
	}
	m.large = l
	return nil
}

// addLarge is addWide in memory of l, for a row of n bytes of values.
func (m *Merger) addLarge(ctx context.Context, c *cursor, l *column.LargeRow, n int) error {
	v := c.current.rest()
	if c.current.far() {
		if err := l.Reserve(int64(n)); err != nil {
			return err
		}
		defer l.Settle(-int64(n))
		far := hostmem.Make[byte](n)
		defer hostmem.Free(far)
		var err error
		if v, err = getFar(ctx, far[:0], c.current, c.file); err != nil {
			return err
		}
	}
	for i, f := range m.lay.fields {
		if err := f.makeLarge(&m.batch.Cols[i], l, v); err != nil {
			return err
		}
	}
	m.vals = append(m.vals[:0], v)
	m.lay.add(&m.batch, m.vals)
	return nil
}

// makeLarge gives v memory for the value of a row.
func (f field) makeLarge(v *column.Vector, l *column.LargeRow, values []byte) error {
	if r := f.typ.Rep(); r != column.RepBytes && r != column.RepList {
		return nil
	}
	at, n := f.cell(values)
	elems, bytes := 0, n
	if f.typ.IsNested() {
		elems, bytes = n, 0
		if f.typ.Elem().Rep() == column.RepBytes {
			bytes = textBytes(values[at:], n)
		}
	}
	if err := l.Make(v, f.typ, elems, bytes); err != nil {
		return err
	}
	each := 8
	if f.typ.Elem().Rep() == column.RepWide {
		each = 32
	}
	if f.typ.Nest == column.Map {
		each += 8
	}
	return l.Reserve(int64(bytes) + int64(elems)*int64(each))
}

// textBytes is how many bytes n strings in a list have.
func textBytes(b []byte, n int) (bytes int) {
	for i := range n {
		bytes += lengthOf(b, i)
	}
	return bytes
}
