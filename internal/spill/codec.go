package spill

import "github.com/klauspost/compress/s2"

// codec is how a part of a payload came from the part of the block. A coded
// part is smaller than it was (SHRINKS).
type codec uint8

const (
	codecRaw  codec = iota // as it was
	codecBits              // rows packed by the bits that differ (pack.go)
	codecS2                // klauspost/compress/s2
)

// What must be saved for coding to pay, and how many blocks are left alone
// after one where s2 did not: a disk of 415 MB/s takes 2.4 ns a byte, s2
// 1 to 5 ns whether it finds something or not, bits half a nanosecond, and
// nothing once the survey says no. Measured in docs/experiments/0003.
const (
	rowsPay   = 8 // of the rows at least 1/8
	wordsPay  = 2 // of other bytes seen as words 1/2, else s2 is tried
	s2Pay     = 4 // 1/4
	s2Backoff = 8
	s2Least   = 256 // fewer bytes are not worth a call
)

// encoder codes payloads. It remembers whether s2 paid of late.
type encoder struct {
	frame   frame
	backoff int // blocks to come for which s2 is not tried
}

// codedRoom is how much larger than the block the memory must be that a
// payload is coded in.
const codedRoom = 64

// encode appends the payload of a block to dst, whose capacity must hold the
// block and codedRoom.
func (c *encoder) encode(dst, block []byte, rows, stride int) ([]byte, header) {
	front, back := block[:rows*stride*8], block[rows*stride*8:]
	begin := len(dst)
	var h header
	dst, h.rowCodec = c.rows(dst, front, stride)
	h.front = uint32(len(dst) - begin)
	dst, h.tailCodec = c.behind(dst, back)
	return dst, h
}

func (c *encoder) rows(dst, rows []byte, stride int) ([]byte, codec) {
	if out, ok := c.pack(dst, rows, stride, rowsPay); ok {
		return out, codecBits
	}
	return append(dst, rows...), codecRaw
}

// pack packs rows if that saves at least one of pay parts of them.
func (c *encoder) pack(dst, rows []byte, stride, pay int) ([]byte, bool) {
	if len(rows) == 0 {
		return dst, false
	}
	return c.frame.packRows(dst, rows, stride, len(rows)-len(rows)/pay)
}

// behind codes the bytes behind the rows: chains of numbers are words, too,
// and strings are for s2.
func (c *encoder) behind(dst, b []byte) ([]byte, codec) {
	if len(b)%8 == 0 {
		if out, ok := c.pack(dst, b, 1, wordsPay); ok {
			return out, codecBits
		}
	}
	if out, ok := c.s2(dst, b); ok {
		return out, codecS2
	}
	return append(dst, b...), codecRaw
}

func (c *encoder) s2(dst, b []byte) ([]byte, bool) {
	if len(b) < s2Least {
		return dst, false
	}
	if c.backoff > 0 {
		c.backoff--
		return dst, false
	}
	coded := s2.Encode(dst[len(dst):cap(dst)], b) // in place: codedRoom is more than it can grow
	if len(coded) > len(b)-len(b)/s2Pay {
		c.backoff = s2Backoff
		return dst, false
	}
	return dst[:len(dst)+len(coded)], true
}

// decode makes a block of a payload, behind which slack bytes can be read.
// It reports whether the payload is one; after the checksum only a wrong
// program or a forger can make another.
func decode(dst, payload []byte, h header, f *frame) bool {
	front := uint64(h.rows) * uint64(h.stride) * 8
	if front > uint64(len(dst)) || uint64(h.front) > uint64(len(payload)) {
		return false
	}
	return decodePart(dst[:front], payload[:h.front], h.rowCodec, int(h.stride), f) &&
		decodePart(dst[front:], payload[h.front:], h.tailCodec, 1, f)
}

func decodePart(dst, in []byte, c codec, stride int, f *frame) bool {
	switch c {
	case codecRaw:
		return len(in) == len(dst) && copy(dst, in) == len(dst)
	case codecBits:
		return len(dst) > 0 && len(dst)%(stride*8) == 0 && cap(in)-len(in) >= slack && f.unpackRows(dst, in, stride)
	case codecS2:
		if n, err := s2.DecodedLen(in); err != nil || n != len(dst) {
			return false
		}
		_, err := s2.Decode(dst[:len(dst):len(dst)], in)
		return err == nil
	}
	return false
}
