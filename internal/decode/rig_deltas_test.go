package decode

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// drawDeltas is integers in DELTA_BINARY_PACKED, in blocks of a drawn size. What a block has too
// much is left off at times.
func drawDeltas(r *rand.Rand, values []int64, narrow bool) []byte {
	block := 128 << r.IntN(3)
	minis := block / 32 >> r.IntN(3)
	b := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(block)), uint64(minis))
	b = binary.AppendUvarint(b, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(b, 0)
	}
	b = binary.AppendVarint(b, values[0])
	diffs := make([]int64, len(values)-1)
	for i := range diffs {
		if diffs[i] = values[i+1] - values[i]; narrow {
			diffs[i] = int64(int32(diffs[i]))
		}
	}
	for len(diffs) > 0 {
		n := min(block, len(diffs))
		b = appendBlock(b, diffs[:n], block/minis, minis)
		diffs = diffs[n:]
	}
	for cut := r.IntN(2) == 0; cut; { // what no value needs
		if _, cut = readDeltas(b[:len(b)-1], len(values), len(values)); cut {
			b = b[:len(b)-1]
		}
	}
	return b
}

// appendBlock appends a block of differences.
func appendBlock(b []byte, diffs []int64, perMini, minis int) []byte {
	least := diffs[0]
	for _, d := range diffs {
		least = min(least, d)
	}
	b = binary.AppendVarint(b, least)
	widths := make([]int, minis)
	for i, d := range diffs {
		widths[i/perMini] = max(widths[i/perMini], bits.Len64(uint64(d)-uint64(least)))
	}
	for _, w := range widths {
		b = append(b, byte(w))
	}
	for m, w := range widths {
		packed := make([]byte, perMini/8*w)
		for i := range perMini {
			if at := m*perMini + i; at < len(diffs) {
				for k := range w {
					bit := i*w + k
					packed[bit/8] |= byte((uint64(diffs[at])-uint64(least))>>k&1) << (bit % 8)
				}
			}
		}
		b = append(b, packed...)
	}
	return b
}

// readDeltas is the first n values of a page in DELTA_BINARY_PACKED that has at most `most`; not
// ok: it makes no sense.
func readDeltas(b []byte, n, most int) (values []int64, ok bool) {
	var head [3]uint64
	for i := range head {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, false
		}
		head[i], b = v, b[k:]
	}
	last, k := binary.Varint(b)
	block, minis, count := head[0], head[1], head[2]
	if k <= 0 || block == 0 || block > 65536 || block%128 != 0 || minis == 0 || minis > block || block%minis != 0 ||
		block/minis%32 != 0 || count > uint64(most) || count < uint64(n) {
		return nil, false
	}
	b = b[k:]
	if n > 0 {
		values = append(values, last)
	}
	for len(values) < n {
		least, k := binary.Varint(b)
		if k <= 0 || len(b)-k < int(minis) {
			return nil, false
		}
		widths := b[k : k+int(minis)]
		b = b[k+int(minis):]
		for _, w := range widths {
			per := int(block / minis)
			here, width := min(per, n-len(values)), uint(w)
			if here == 0 {
				break
			}
			if width > 64 || (uint(here)*width+7)/8 > uint(len(b)) {
				return nil, false
			}
			for i := range here {
				last += least + int64(little(b, uint(i)*width, width))
				values = append(values, last)
			}
			b = b[min(per/8*int(width), len(b)):]
		}
	}
	return values, true
}
