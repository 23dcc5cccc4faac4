package parquetio

import (
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// A file up to these sizes is read through where only its rows are counted:
// that costs next to nothing beside opening it, and a damaged file is found
// out instead of counted. Of a larger one the footer is believed, unless it
// contradicts itself.
const (
	verifyBytes = 1 << 20 // of the file
	verifyRows  = 1 << 16 // a run can claim any number in a few bytes
)

// verify reads the flat columns of a row group of a small file; of a larger
// one, the page headers of those that have another number of values than the
// row group has rows. Columns that this package cannot read are no damage.
func (f *file) verify(group int, shared *workspace) error {
	small := f.size <= verifyBytes && f.rows <= verifyRows && f.far() == nil
	if !small && !f.groups[group].disagree {
		return nil
	}
	for i := range f.leaves {
		l := &f.leaves[i]
		m := &f.chunk(group, l.index).MetaData
		if l.err != nil || m.Codec == format.LZO || !small && m.NumValues == f.groups[group].rows {
			continue
		}
		if err := f.verifyColumn(group, i, small, shared); err != nil {
			return err
		}
	}
	return nil
}

// verifyColumn reads a column, or only the headers of its pages.
func (f *file) verifyColumn(group, leaf int, values bool, shared *workspace) error {
	want := f.leaves[leaf].typ
	if want.Kind == column.Decimal {
		want.Precision = column.MaxDigits // more digits than declared are no damage
	}
	c, err := newColumnReader(f, leaf, want, shared)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.open(group); err != nil {
		return err
	}
	var v column.Vector
	for {
		n, err := c.available()
		if n == 0 || err != nil {
			return err
		}
		if values {
			err = c.read(&v, min(n, shared.batchRows))
		} else {
			err = c.skip(int64(n))
		}
		if err != nil {
			return err
		}
	}
}
