package kerneltest_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/klauspost/compress/snappy"
)

// snappyBlock is a block of the elements that a test wants in it, true or not.
type snappyBlock struct {
	elements []byte
	size     int // that the elements come to
}

// cutBlock is a block as Google's encoder makes it: of 64 KiB after the other,
// without copies from one to another.
func cutBlock(data []byte) []byte {
	block := binary.AppendUvarint(nil, uint64(len(data)))
	for part := range slices.Chunk(data, snappyFragment) {
		encoded := snappy.Encode(nil, part)
		_, header := binary.Uvarint(encoded)
		block = append(block, encoded[header:]...)
	}
	return block
}

// literal adds one whose length takes `extra` bytes, 0 to 4.
func (b *snappyBlock) literal(extra int, bytes ...byte) *snappyBlock {
	less := uint32(len(bytes) - 1)
	if extra == 0 {
		b.elements = append(b.elements, byte(less<<2))
	} else {
		b.elements = append(b.elements, byte(59+extra)<<2)
		b.elements = append(b.elements, binary.LittleEndian.AppendUint32(nil, less)[:extra]...)
	}
	b.elements = append(b.elements, bytes...)
	b.size += len(bytes)
	return b
}

// literalOf adds one of n bytes, drawn, whose length takes as few bytes as can
// be.
func (b *snappyBlock) literalOf(n int, draws *rand.Rand) *snappyBlock {
	extra := 0
	for limit := 60; n > limit; limit = 1 << (8 * extra) {
		extra++
	}
	return b.literal(extra, fill(n, func() byte { return byte(draws.Uint32()) })...)
}

// copy adds one of a kind, 1 to 3.
func (b *snappyBlock) copy(kind, length, offset int) *snappyBlock {
	switch kind {
	case 1:
		b.elements = append(b.elements, byte(offset>>8<<5|(length-4)<<2|1), byte(offset))
	case 2:
		b.elements = append(b.elements, byte((length-1)<<2|2), byte(offset), byte(offset>>8))
	default:
		b.elements = append(b.elements, byte((length-1)<<2|3))
		b.elements = binary.LittleEndian.AppendUint32(b.elements, uint32(offset))
	}
	b.size += length
	return b
}

// drawCopy adds one of any kind that reaches back at most as far as there are
// bytes, near ones as often as far ones.
func (b *snappyBlock) drawCopy(draws *rand.Rand) *snappyBlock {
	offset := 1 + draws.IntN(b.size)
	if draws.IntN(2) == 0 {
		offset = 1 + draws.IntN(min(b.size, 20))
	}
	kind := 1 + draws.IntN(3)
	switch {
	case kind == 1 && offset < 1<<11:
		return b.copy(1, 4+draws.IntN(8), offset)
	case kind == 2 && offset < 1<<16:
		return b.copy(2, 1+draws.IntN(64), offset)
	}
	return b.copy(3, 1+draws.IntN(64), offset)
}

// bytes is the block.
func (b *snappyBlock) bytes() []byte { return b.promising(b.size) }

// promising is the block with a size in front that is not its own.
func (b *snappyBlock) promising(size int) []byte {
	return append(binary.AppendUvarint(nil, uint64(size)), b.elements...)
}
