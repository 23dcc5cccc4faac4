package expr

import "bytes"

// Match is a pattern of texts: pieces that come one after the other, byte by byte. The first is at
// the beginning of the text and the last at its end; one piece alone is the whole text. Those
// between have a byte or more each.
type Match struct {
	Pieces [][]byte
	Folded bool // the text counts in lower case; all pieces are of ASCII
}

// newMatch is the pattern of pieces, of which there is one or more, without those that are empty
// between the first and the last.
func newMatch(pieces []string) *Match {
	m := &Match{}
	for i, p := range pieces {
		if p != "" || i == 0 || i == len(pieces)-1 {
			m.Pieces = append(m.Pieces, []byte(p))
		}
	}
	return m
}

// bytes is how many the pieces have.
func (m *Match) bytes() (n int) {
	for _, p := range m.Pieces {
		n += len(p)
	}
	return n
}

// Word is 1 if the text is of the pattern, else 0.
func (m *Match) Word(text []byte) uint64 { return uint64(truth(m.matches(text))) }

// matches reports whether the text is of the pattern.
func (m *Match) matches(text []byte) bool {
	if m.Folded {
		text = bytes.ToLower(text)
	}
	first, last := m.Pieces[0], m.Pieces[len(m.Pieces)-1]
	if len(m.Pieces) == 1 {
		return bytes.Equal(text, first)
	}
	if len(text) < len(first)+len(last) || !bytes.HasPrefix(text, first) || !bytes.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, p := range m.Pieces[1 : len(m.Pieces)-1] {
		i := bytes.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return true
}
