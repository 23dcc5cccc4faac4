package parquetio

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"
)

// validateGroups checks every number of the footer's row groups against the
// schema, the file's size and one another, and fills groups. Errors are
// *Error.
func (f *file) validateGroups() error {
	f.groups = make([]rowGroup, len(f.chunks.whole))
	for g := range f.groups {
		var err error
		if f.groups[g], err = f.validateGroup(g, f.rows, &f.chunks.whole[g]); err != nil {
			return err
		}
		f.rows += f.groups[g].rows
	}
	return f.validateRows()
}

// validateGroup checks a row group, before which the file has `before` rows.
func (f *file) validateGroup(g int, before int64, rg *format.RowGroup) (group rowGroup, err error) {
	if rg.NumRows < 0 {
		return group, f.groupError(g, fmt.Errorf("damaged: %d rows", rg.NumRows))
	}
	if rg.NumRows > maxRows-before {
		return group, f.groupError(g, errors.New("damaged: more rows than can be counted"))
	}
	if len(rg.Columns) != len(f.leaves) {
		return group, f.groupError(g, fmt.Errorf("damaged: %d column chunks for %d columns", len(rg.Columns), len(f.leaves)))
	}
	group = rowGroup{rows: rg.NumRows, first: before}
	for i := range rg.Columns {
		if err := f.validateChunk(&rg.Columns[i], &f.leaves[i], rg.NumRows); err != nil {
			return group, &Error{File: f.name, RowGroup: g, Column: f.leaves[i].name, Err: err}
		}
		group.disagree = group.disagree || rg.Columns[i].MetaData.NumValues != rg.NumRows
	}
	return group, nil
}

func (f *file) validateRows() error {
	if f.rows != f.meta.NumRows && f.meta.NumRows != 0 { // some writers leave it at 0
		return fileError(f.name, "damaged: the footer says %d rows, its row groups %d", f.meta.NumRows, f.rows)
	}
	return nil
}

func (f *file) groupError(group int, err error) error {
	return &Error{File: f.name, RowGroup: group, Err: err}
}

// validateChunk leaves it to the pages whether the count of values of a flat column is true:
// Impala has written files in which it is not. See verify.
func (f *file) validateChunk(chunk *format.ColumnChunk, l *leaf, rows int64) error {
	m := &chunk.MetaData
	f.extend(chunk)
	switch {
	case chunk.CryptoMetadata.Value != nil:
		return errEncrypted
	case chunk.FilePath != "":
		return fmt.Errorf("its data is in another file (%q); not supported", chunk.FilePath)
	case m.Type != l.physical:
		return fmt.Errorf("damaged: %v in the schema, %v in the row group", l.physical, m.Type)
	case !slices.Equal(m.PathInSchema, l.path):
		return fmt.Errorf("damaged: the row group calls it %q", strings.Join(m.PathInSchema, "."))
	case m.Codec < format.Uncompressed || m.Codec > format.Lz4Raw:
		return fmt.Errorf("unknown compression codec %d", m.Codec)
	case m.NumValues < 0 || l.maxRep > 0 && m.NumValues < rows: // an empty list counts as a value
		return fmt.Errorf("damaged: %d values in %d rows", m.NumValues, rows)
	}
	if rows == 0 {
		return nil // never read, and writers leave the offsets at zero
	}
	_, size, err := f.chunkRange(m)
	if err == nil && rows/math.MaxInt32 > (size+maxOver)/leastPageHeader+1 {
		err = fmt.Errorf("damaged: %d rows in %d bytes", rows, size)
	}
	return err
}

// leastPageHeader is less than the header of a data page has, whose rows are
// numbered in 31 bits: a footer cannot claim any number of rows for a few bytes.
const leastPageHeader = 16

// chunkRange returns where the bytes of a chunk lie: within the file, after
// the magic and before the footer.
//
// Real files lie about the dictionary page: its offset may be 0 although
// there is one (then the "data page" offset points at it), or a number
// without meaning. It counts only where it could be true.
func (f *file) chunkRange(m *format.ColumnMetaData) (start, size int64, err error) {
	start, size = m.DataPageOffset, m.TotalCompressedSize
	if d := m.DictionaryPageOffset; d >= int64(len(magic)) && d < start {
		start = d
	}
	if start < int64(len(magic)) || size < 0 || start > f.end || size > f.end-start {
		return 0, 0, fmt.Errorf("damaged: %d bytes at %d lie outside the data of the file, which ends at %d", size, start, f.end)
	}
	return start, size, nil
}
