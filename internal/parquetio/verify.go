package parquetio

import (
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// A file up to these sizes is read through where only its rows are counted:
// that costs next to nothing beside opening it, and a damaged file is found
// out instead of counted. Of a larger one the footer is believed.
const (
	verifyBytes = 1 << 20 // of the file
	verifyRows  = 1 << 16 // a run can claim any number in a few bytes
)

// verify reads the flat columns of a row group of a small file. Those that
// this package cannot read are no damage.
func (f *file) verify(group int, shared *workspace) error {
	if f.size > verifyBytes || f.rows > verifyRows {
		return nil
	}
	chunks := f.meta.RowGroups[group].Columns
	for i := range f.leaves {
		l := &f.leaves[i]
		if l.err != nil || chunks[l.index].MetaData.Codec == format.LZO {
			continue
		}
		if err := f.verifyColumn(group, i, shared); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) verifyColumn(group, leaf int, shared *workspace) error {
	c, err := newColumnReader(f, leaf, f.leaves[leaf].typ, shared)
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
		if err := c.read(&v, min(n, shared.batchRows)); err != nil {
			return err
		}
	}
}
