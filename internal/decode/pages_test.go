package decode

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/gagg-dev/gagg/internal/kernels"
)

// drawRuns encodes small integers as writers may: run-length and bit-packed runs
// of drawn lengths, empty ones among them, the last group whole or cut.
func drawRuns(r *rand.Rand, values []uint32, width int) (b []byte) {
	for len(values) > 0 {
		same := 1
		for same < len(values) && values[same] == values[0] {
			same++
		}
		switch n := 1 + r.IntN(1<<r.IntN(12)); {
		case r.IntN(20) == 0: // empty
			b = append(binary.AppendUvarint(b, uint64(r.IntN(2))), 0, 0, 0, 0)
			if b[len(b)-5] == 0 {
				b = b[:len(b)-4+(width+7)/8]
			} else {
				b = b[:len(b)-4]
			}
		case same >= 8 || r.IntN(4) == 0:
			n = min(n, same)
			b = binary.AppendUvarint(b, uint64(n)<<1)
			var value [4]byte
			binary.LittleEndian.PutUint32(value[:], values[0])
			b = append(b, value[:(width+7)/8]...)
			values = values[n:]
		default:
			groups := (n + 7) / 8
			n = min(groups*8, len(values))
			b = binary.AppendUvarint(b, uint64(groups)<<1|1)
			packed := pack(values[:n], width, groups*width)
			if n == len(values) && r.IntN(2) == 0 {
				packed = packed[:(n*width+7)/8]
			}
			b = append(b, packed...)
			values = values[n:]
		}
	}
	return b
}

// pack is values of so many bits each, the lowest first, in size bytes.
func pack(values []uint32, width, size int) []byte {
	b := make([]byte, size)
	for i, v := range values {
		for k := range width {
			bit := i*width + k
			b[bit/8] |= byte(v>>k&1) << (bit % 8)
		}
	}
	return b
}

// drawCodes encodes dictionary codes: their width, which may be more than they
// need, and runs.
func drawCodes(r *rand.Rand, values []uint32, count int) []byte {
	width := min(bits.Len(uint(count-1))+r.IntN(2)*r.IntN(33), 32)
	if width == 0 {
		return []byte{0}
	}
	return append([]byte{byte(width)}, drawRuns(r, values, width)...)
}

// drawCoded is drawCodes, or booleans in runs.
func drawCoded(r *rand.Rand, encoding uint8, values []uint32, count int) []byte {
	if encoding != kernels.ParquetTruths {
		return drawCodes(r, values, count)
	}
	return sized(drawRuns(r, values, 1)...)
}

// The levels that a page may have in front of its values.
const (
	noLevels = iota
	sizedLevels
	v2Levels
	levelForms
)

// drawLevels is definition levels of rows, and what a page's Levels says of
// them. Without levels no row is NULL.
func drawLevels(r *rand.Rand, form int, null []bool) ([]byte, uint32) {
	if form == noLevels {
		return nil, 0
	}
	there := make([]uint32, len(null))
	for i := range there {
		if !null[i] {
			there[i] = 1
		}
	}
	b := drawRuns(r, there, 1)
	if form == sizedLevels {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...), kernels.ParquetSizedLevels
	}
	return b, uint32(len(b))
}

// packedRuns is packed runs of these numbers of groups, in turns, the last cut
// as it comes.
func packedRuns(values []uint32, width int, groups ...int) (b []byte) {
	for i := 0; len(values) > 0; i++ {
		g := groups[i%len(groups)]
		n := min(g*8, len(values))
		b = binary.AppendUvarint(b, uint64(g)<<1|1)
		b = append(b, pack(values[:n], width, g*width)...)
		values = values[n:]
	}
	return b
}
