package parquetio

import (
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// textSpread is how much longer than their mean most texts of a column are taken to be. It decides
// whether keys hold a text (maxInlineText of internal/plan, 55 bytes), and no answer: they do up to
// a mean of 44 bytes. With 1.1 that would be 50 and with 1.5 36, so the value matters only for
// columns with a mean between these.
const textSpread = 1.25

// TextLength is what most texts of column i of Columns have at most, in bytes, as far as footers
// tell without the texts: from the mean of a unit, and exactly where the least and the greatest
// have the same length as the mean. ok is false if it cannot be told, as of columns that
// dictionaries hold a part of, whose mean may be another one for rows than for entries.
func (s *Scan) TextLength(i int) (bytes int, ok bool) {
	if len(s.units) == 0 || s.types[i].Rep() != column.RepBytes {
		return 0, false
	}
	unit := len(s.units) / 2
	f, group := s.d.files[s.fileOf[unit]], s.units[unit].Group
	leaf := s.leaves[f.layout][i]
	if leaf < 0 {
		return 0, false
	}
	if l := &f.leaves[leaf]; l.physical == format.FixedLenByteArray {
		return l.length, true
	}
	m := &f.chunk(group, f.leaves[leaf].index).MetaData
	peek := s.peeked[i]()
	if peek.entries < 0 || m.NumValues <= 0 {
		return 0, false
	}
	const prefix = 4 // the length of a text before it
	mean := float64(m.TotalUncompressedSize)/float64(m.NumValues) - prefix
	if peek.entries > 0 {
		mean = float64(peek.dictBytes)/float64(peek.entries) - prefix
	}
	if b := s.bounds(s.fileOf[unit], group, i); b.HasMin && b.HasMax && len(b.Min.Bytes) == len(b.Max.Bytes) && math.Abs(mean-float64(len(b.Min.Bytes))) < 1 {
		return len(b.Min.Bytes), true
	}
	return int(max(mean, 0) * textSpread), peek.entries == 0
}
