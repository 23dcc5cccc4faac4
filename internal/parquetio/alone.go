package parquetio

import (
	"bytes"
	"errors"

	"github.com/parquet-go/parquet-go/format"
)

// This file finds files that are two, one behind the other, as "cat a.parquet b.parquet" makes
// them. The footer at the end is that of b, and counts from where b begins; it would be read over
// the bytes of a. What lies before that footer and belongs to none of its chunks and indexes is
// then as long as a:
//
//	PAR1 … PAR1 PAR1 chunks indexes footer PAR1
//	└─ a ─────┘ └─ b ─────────────┘
//	     └ the last of b's bytes, as its footer counts, are here

var errTwoFiles = errors.New("two Parquet files in one, one behind the other: name them as files")

// aloneSlack is how much may lie between the last index of a file and its footer.
const aloneSlack = 64 << 10

// extend notes where the bytes of a chunk and its indexes end.
func (f *file) extend(c *format.ColumnChunk) {
	m := &c.MetaData
	start := m.DataPageOffset
	if d := m.DictionaryPageOffset; d >= int64(len(magic)) && d < start {
		start = d
	}
	for _, at := range [][2]int64{
		{start, m.TotalCompressedSize},
		{m.BloomFilterOffset, int64(m.BloomFilterLength)},
		{c.ColumnIndexOffset, int64(c.ColumnIndexLength)},
		{c.OffsetIndexOffset, int64(c.OffsetIndexLength)},
	} {
		if at[0] > 0 && at[1] >= 0 && at[0] <= f.end && at[1] <= f.end-at[0] {
			f.used = max(f.used, at[0]+at[1])
		}
	}
}

// checkAlone looks whether another file lies before this one.
func (f *file) checkAlone() error {
	before := f.end - max(f.used, int64(len(magic)))
	if before < int64(len(magic)+trailerSize) {
		return nil
	}
	from := max(before-aloneSlack, 0)
	some := make([]byte, before-from+int64(len(magic)))
	if err := readAt(f.r, some, from); err != nil {
		return err
	}
	if bytes.Contains(some, []byte(magic+magic)) {
		return errTwoFiles
	}
	return nil
}
