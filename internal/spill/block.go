package spill

import (
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"
)

// Extent is where a block is, and how large.
type Extent struct {
	Off    int64
	Stored uint32 // bytes on disk, the header included
	Raw    uint32 // bytes as given to Append
}

const (
	headerSize = 48
	magic      = 0x4b_42_47_47 // "GGBK"
	magicPart  = 0x54_50_47_47 // "GGPT", of a part of a block

	// MaxBlock is the most bytes of a block. As parts it may take one in a thousand more on disk.
	MaxBlock = math.MaxUint32 - math.MaxUint32/1000
)

// header is what stands before each payload; the package comment draws it.
type header struct {
	part                bool   // of a part
	rowCodec, tailCodec codec  // of the rows, of the bytes behind them
	stride              uint16 // words of a row
	off                 int64
	seq                 uint32 // number of the block in its file
	file                uint32 // number of the file in its space
	raw                 uint32
	stored              uint32
	rows                uint32
	front               uint32 // bytes of the payload that hold the rows
}

// seal writes the header before the payload in b.
func (h *header) seal(b []byte, seed uint64) {
	le := binary.LittleEndian
	le.PutUint32(b[0:], magic)
	if h.part {
		le.PutUint32(b[0:], magicPart)
	}
	b[4], b[5] = byte(h.rowCodec), byte(h.tailCodec)
	le.PutUint16(b[6:], h.stride)
	le.PutUint64(b[16:], uint64(h.off))
	le.PutUint32(b[24:], h.seq)
	le.PutUint32(b[28:], h.file)
	le.PutUint32(b[32:], h.raw)
	le.PutUint32(b[36:], h.stored)
	le.PutUint32(b[40:], h.rows)
	le.PutUint32(b[44:], h.front)
	le.PutUint64(b[8:], checksum(b[:headerSize], b[headerSize:], seed))
}

// checksum is that of a payload, put in the place of the checksum and hashed
// with the header around it.
func checksum(head, payload []byte, seed uint64) uint64 {
	var mixed [headerSize]byte
	copy(mixed[:], head)
	binary.LittleEndian.PutUint64(mixed[8:], xxh3.Hash(payload))
	return xxh3.HashSeed(mixed[:], seed)
}

// parse reads a header of headerSize bytes, whatever they are.
func parse(b []byte) header {
	le := binary.LittleEndian
	return header{
		part:      le.Uint32(b) == magicPart,
		rowCodec:  codec(b[4]),
		tailCodec: codec(b[5]),
		stride:    le.Uint16(b[6:]),
		off:       int64(le.Uint64(b[16:])),
		seq:       le.Uint32(b[24:]),
		file:      le.Uint32(b[28:]),
		raw:       le.Uint32(b[32:]),
		stored:    le.Uint32(b[36:]),
		rows:      le.Uint32(b[40:]),
		front:     le.Uint32(b[44:]),
	}
}

// verify compares a header and its payload with the extent that was asked
// for, and says what does not match (VERIFIED).
func verify(head, payload []byte, e Extent, file uint32, seed uint64) (header, string) {
	h := parse(head)
	le := binary.LittleEndian
	switch {
	case le.Uint32(head) != magic && !h.part:
		return h, "no block there"
	case le.Uint64(head[8:]) != checksum(head, payload, seed):
		return h, "checksum"
	case h.off != e.Off || h.file != file || h.stored != e.Stored || h.raw != e.Raw:
		return h, "another block is in its place"
	}
	return h, ""
}
