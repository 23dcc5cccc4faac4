package expr

import (
	"bytes"

	"github.com/gagg-dev/gagg/internal/column"
)

// needle looks for one text in many. It compares the text's two rarest bytes at 32 places at a
// time, and searches whole pages where strings lie end to end. bytes.Index compares the first
// byte, and searches each string by itself.
type needle struct {
	text []byte
	at   int // the place of the first of the two
	far  int // of the second, behind it
	a, b byte
}

// rare orders bytes of texts by how seldom they are, the commonest first; others are rarer.
const rare = "e/aotinsrl.wcudmhpgtw bfvyk-=&%0123456789_:"

// pairBytes is among how many bytes of a text the two are chosen.
const pairBytes = 32

// newNeedle looks for a text of two bytes or more.
func newNeedle(text []byte) *needle {
	s := &needle{text: text, far: 1}
	best := -1
	for i := range min(len(text), pairBytes) {
		for k := i + 1; k < min(len(text), pairBytes); k++ {
			if score := rarity(text[i]) + rarity(text[k]); score > best && text[i] != text[k] || best < 0 {
				s.at, s.far, best = i, k-i, score
			}
		}
	}
	s.a, s.b = text[s.at], text[s.at+s.far]
	return s
}

func rarity(c byte) int {
	if i := bytes.IndexByte([]byte(rare), c); i >= 0 {
		return i
	}
	return len(rare)
}

// mostMisses is how many places may have the two bytes without the text, at first and again for
// each mostMisses bytes searched. Where more do, bytes.Index is faster and takes over.
const mostMisses = 32

// index is bytes.Index(data, s.text).
func (s *needle) index(data []byte) int {
	starts := len(data) - len(s.text) + 1 // places where it may begin
	from := 0
	for misses := 0; starts-from >= pairStep && misses <= mostMisses+from/mostMisses; misses++ {
		whole := (starts - from) &^ (pairStep - 1)
		at := indexPair(data[from+s.at:][:whole], data[from+s.at+s.far:][:whole], s.a, s.b)
		from += at
		if at == whole {
			continue
		}
		if bytes.Equal(data[from:from+len(s.text)], s.text) {
			return from
		}
		from++
	}
	if at := bytes.Index(data[from:], s.text); at >= 0 {
		return from + at
	}
	return -1
}

// kernel is whether each string contains the text.
func (s *needle) kernel(f *frame) error {
	v, out := f.args[0], f.out.Int
	if ordered(v.Span[:f.n]) {
		s.search(out, v.Span[:f.n], v.Data)
		return nil
	}
	for i := range f.n {
		out[i] = truth(s.index(v.Bytes(i)) >= 0)
	}
	return nil
}

// gapMost is the most bytes between strings that are searched as one. Plain pages have a length
// of four bytes there, and more where rows were chosen from a page.
const gapMost = 32

// ordered reports whether the strings lie one behind the other, and close to one another.
func ordered(spans []column.Span) bool {
	if len(spans) == 0 {
		return false
	}
	end := spans[0].Off
	for _, s := range spans {
		if s.Off < end || s.Off-end > gapMost {
			return false
		}
		end = s.Off + s.Len
	}
	return true
}

// search is kernel for strings that are ordered: it searches what they lie in as a whole.
func (s *needle) search(out []int64, spans []column.Span, data []byte) {
	clear(out[:len(spans)])
	last := spans[len(spans)-1]
	data = data[:last.Off+last.Len]
	row, from := 0, int(spans[0].Off)
	for {
		at := s.index(data[from:])
		if at < 0 {
			return
		}
		from += at
		for int(spans[row].Off+spans[row].Len) <= from {
			row++
		}
		end := int(spans[row].Off + spans[row].Len)
		if int(spans[row].Off) <= from && from+len(s.text) <= end {
			out[row] = 1
			from = end
			continue
		}
		from++ // it lies between two strings, or goes beyond its own
	}
}
