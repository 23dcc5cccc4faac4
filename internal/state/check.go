package state

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file is the checksums of states: CRC-32C of the header's text, and of each row. A row has
// its own, so that states stay checked in whatever records others write them anew. The bytes of a
// row are those of its columns, in the order of the table and without the checksum's:
//
//	NULL     00
//	number   01, 64 bits; what is less is extended by its sign, floats become doubles
//	decimal  of more than 18 digits: 01, 256 bits in two's complement
//	text     01, 64 bits of its length, its bytes
//
// The low byte of a word comes first, and of words the lowest.

// CheckColumn is the name of the column with the checksums of rows.
const CheckColumn = "gagg.state.check"

// checkVersion is the first format that has checksums.
const checkVersion = 3

// CheckType is the type of that column.
var CheckType = column.Type{Kind: column.Uint32}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// HeaderCheck is the checksum of the text of a header.
func HeaderCheck(text string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(text), castagnoli))
}

// Checker computes the checksums of rows.
type Checker struct{ row []byte }

// Append appends the checksums of n rows to sums.
func (c *Checker) Append(sums []int64, cols []*column.Vector, n int) []int64 {
	for i := range n {
		c.row = c.row[:0]
		for _, v := range cols {
			c.row = appendValue(c.row, v, i)
		}
		sums = append(sums, int64(crc32.Checksum(c.row, castagnoli)))
	}
	return sums
}

func appendValue(b []byte, v *column.Vector, i int) []byte {
	if v.Type.Kind == column.Null || v.IsNull(i) {
		return append(b, 0)
	}
	if v.Dict != nil {
		v, i = &v.Dict.Values, int(v.Codes[i])
	}
	b = append(b, 1)
	switch v.Type.Rep() {
	case column.RepInt64:
		return binary.LittleEndian.AppendUint64(b, uint64(v.Int[i]))
	case column.RepFloat64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float[i]))
	case column.RepWide:
		words := v.Wide[i].Array()
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return b
	}
	text := v.Bytes(i)
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(text))), text...)
}
