package arena

import "slices"

// Section builds a chunk of its own, in one piece of memory: the variable
// part of a block of rows. The zero value is empty and ready to use. The refs
// of its values are those of chunk number 0: offset / 8, never 0.
type Section struct {
	data []byte
}

// Put stores a copy of b, which must be shorter than 4 GiB, and returns its
// ref, which holds from the base that [Arenas.Adopt] returns.
func (s *Section) Put(b []byte) uint64 {
	used, need := len(s.data), Size(len(b))
	s.data = slices.Grow(s.data, need+Padding)[:used+need]
	at := place(s.data, used, b, need)
	clear(s.data[at+len(b):]) // what lay there before must not reach a disk
	return uint64(at / 8)
}

// Len is the length of what Bytes would return.
func (s *Section) Len() int {
	if len(s.data) == 0 {
		return 0
	}
	return len(s.data) + Padding
}

// Bytes returns the chunk, a multiple of 8 bytes long and empty if nothing
// was put. It is valid until the next Put or Reset.
func (s *Section) Bytes() []byte {
	out := s.data[:s.Len()]
	clear(out[len(s.data):])
	return out
}

// Reset empties the section and keeps its memory.
func (s *Section) Reset() { s.data = s.data[:0] }
