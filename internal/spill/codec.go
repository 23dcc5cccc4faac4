package spill

// codec is how the payload of a block came from the block.
type codec uint16

const codecRaw codec = 0

// encode appends the payload of a block to dst.
func (f *File) encode(dst, block []byte, rows, stride int) ([]byte, header) {
	return append(dst, block...), header{}
}

// decode makes a block of a payload. It reports whether the payload is one:
// only a wrong program or a forged checksum can make another.
func decode(dst, payload []byte, h header) bool {
	return h.codec == codecRaw && len(dst) == copy(dst, payload)
}
