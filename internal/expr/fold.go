package expr

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// Texts that are compared in lower case. Patterns mostly are of ASCII, and then it is enough to
// make letters of ASCII small: no others become any of a pattern's, but for those of foldedBeyond.
// So no character is decoded, and the texts of a batch lie end to end and are searched as one.

// foldedBeyond is the letters beyond ASCII whose small ones are of it, and those.
var foldedBeyond = [...]struct{ letter, small string }{{"İ", "i"}, {"K", "k"}}

// appendFolded appends s with the letters of ASCII made small.
func appendFolded(to, s []byte) []byte {
	start := len(to)
	to = append(to, s...)
	out := to[start:]
	for ; len(out) >= 8; out = out[8:] {
		binary.LittleEndian.PutUint64(out, foldWord(binary.LittleEndian.Uint64(out)))
	}
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return to
}

// foldWord makes each of eight bytes small that is a letter of ASCII.
func foldWord(word uint64) uint64 {
	const each = 0x0101010101010101
	const high = 0x80 * each
	low := word &^ high
	fromA, aboveZ := low+(0x80-'A')*each, low+(0x7f-'Z')*each
	return word | (fromA&^aboveZ&^word&high)>>2
}

// likeFolded matches a known pattern, in lower case, without regard to the case of letters.
func likeFolded(pattern string) kernel {
	match := likeMatch(pattern)
	each := func(f *frame) error {
		for i := range f.n {
			f.out.Int[i] = truth(match(bytes.ToLower(f.args[0].Bytes(i))))
		}
		return nil
	}
	if !isASCII([]byte(pattern)) {
		return each
	}
	exact := likeConst(pattern)
	return func(f *frame) error {
		v := &f.folded
		v.Type, v.Len, v.Span, v.Data = f.args[0].Type, f.n, sized(v.Span, f.n), v.Data[:0]
		for i := range f.n {
			start := len(v.Data)
			v.Data = appendFolded(v.Data, f.args[0].Bytes(i))
			v.Span[i] = column.Span{Off: uint32(start), Len: uint32(len(v.Data) - start)}
		}
		for _, b := range foldedBeyond {
			if strings.Contains(pattern, b.small) && bytes.Contains(v.Data, []byte(b.letter)) {
				return each(f)
			}
		}
		texts := f.args
		f.args = []*column.Vector{v}
		err := exact(f)
		f.args = texts
		return err
	}
}
