package arena

import "github.com/gagg-dev/gagg/internal/hostmem"

// Section builds a chunk of its own, in one piece of memory: the variable
// part of a block of rows. The zero value is empty and ready to use. The refs
// of its values are those of chunk number 0: offset / 8, never 0.
type Section struct {
	data []byte // made by hostmem
	used int
}

const minSection = 64 << 10

// Put stores a copy of b, which must be shorter than 4 GiB, and returns its
// ref, which holds from the base that [Arenas.Adopt] returns.
func (s *Section) Put(b []byte) uint64 {
	need := Size(len(b))
	s.grow(need)
	at := place(s.data, s.used, b, need)
	s.used += need
	clear(s.data[at+len(b) : s.used]) // what lay there before must not reach a disk
	return uint64(at / 8)
}

// Append copies all values of a chunk that Bytes of another section returned. Their refs become
// valid by adding add.
func (s *Section) Append(chunk []byte) (add uint64) {
	if len(chunk) == 0 {
		return 0
	}
	s.grow(len(chunk) - Padding)
	add = uint64(s.used / 8)
	s.used += copy(s.data[s.used:], chunk[:len(chunk)-Padding])
	return add
}

// grow makes room for n more bytes.
func (s *Section) grow(n int) {
	if want := s.used + n + Padding; want > len(s.data) {
		s.data = hostmem.Grow(s.data, max(minSection, want, 2*len(s.data)))
	}
}

// Len is the length of what Bytes would return.
func (s *Section) Len() int {
	if s.used == 0 {
		return 0
	}
	return s.used + Padding
}

// Held is the memory that the section has, in bytes.
func (s *Section) Held() int { return len(s.data) }

// Bytes returns the chunk, a multiple of 8 bytes long and empty if nothing
// was put. It is valid until the next Put, Reset or Free.
func (s *Section) Bytes() []byte {
	out := s.data[:s.Len()]
	clear(out[min(s.used, len(out)):])
	return out
}

// Values is Bytes without what may be read behind the last value.
func (s *Section) Values() []byte { return s.data[:s.used] }

// GrowTo makes room for so many bytes, as [Size] counts them, and no more.
func (s *Section) GrowTo(bytes int) {
	if n := bytes + Padding; n > len(s.data) {
		s.data = hostmem.Grow(s.data, n)
	}
}

// Reset empties the section and keeps its memory.
func (s *Section) Reset() { s.used = 0 }

// Detach hands over the memory of the section, which begins with what Bytes returns and is empty
// afterwards.
func (s *Section) Detach() []byte {
	_ = s.Bytes() // clears what lies behind the values
	b := s.data
	*s = Section{}
	return b
}

// Free empties the section and frees its memory.
func (s *Section) Free() {
	hostmem.Free(s.data)
	*s = Section{}
}
