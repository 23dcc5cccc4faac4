package expr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"unicode"
	"unicode/utf8"
)

// mapLetters binds a function that exchanges letters one by one. What is not
// UTF-8 stays as it is.
func mapLetters(letter func(rune) rune) func(*call) (*bound, error) {
	made := sync.OnceValue(func() *letterMap { return newLetterMap(letter) })
	return func(c *call) (*bound, error) {
		l := made()
		return c.strict(func(f *frame) error {
			return f.eachBytes(func(i int, to []byte) []byte { return l.add(to, f.args[0].Bytes(i)) })
		}, c.args...), nil
	}
}

// lowered binds lower(s).
func lowered(c *call) (*bound, error) {
	n, err := toLower(c)
	if err == nil {
		n = n.onLower()
	}
	return n, err
}

var toLower = mapLetters(unicode.ToLower)

// letterMap is what letters become. Those of one and two bytes, which alphabets from Latin to
// Arabic have, are looked up: decoding, mapping and encoding each takes ten times as long.
type letterMap struct {
	letter func(rune) rune
	short  [twoByteRunes]uint16
}

// twoByteRunes is how many of the first code points take two bytes at most.
const twoByteRunes = 1 << 11

func newLetterMap(letter func(rune) rune) *letterMap {
	l := &letterMap{letter: letter}
	for r := range l.short {
		l.short[r] = uint16(letter(rune(r)))
	}
	return l
}

// add appends the letters of s.
func (l *letterMap) add(to, s []byte) []byte {
	if isASCII(s) {
		start := len(to)
		to = append(to, s...)
		for i, c := range to[start:] {
			to[start+i] = byte(l.short[c&(utf8.RuneSelf-1)])
		}
		return to
	}
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			to = append(to, byte(l.short[c]))
			i++
			continue
		}
		if 0xc2 <= c && c < 0xe0 && i+1 < len(s) && s[i+1]>>6 == 2 {
			if r := l.short[uint(c&0x1f)<<6|uint(s[i+1]&0x3f)]; utf8.RuneSelf <= r && r < twoByteRunes {
				to = append(to, 0xc0|byte(r>>6), 0x80|byte(r&0x3f))
			} else {
				to = utf8.AppendRune(to, rune(r))
			}
			i += 2
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if r != utf8.RuneError {
			to = utf8.AppendRune(to, l.letter(r))
		} else {
			to = append(to, s[i:i+size]...)
		}
		i += size
	}
	return to
}

// isASCII reports whether s has ASCII characters only.
func isASCII(s []byte) bool {
	const high = 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		if binary.LittleEndian.Uint64(s)&high != 0 {
			return false
		}
	}
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// runes is the number of characters of s.
func runes(s []byte) int64 {
	if isASCII(s) {
		return int64(len(s))
	}
	return int64(utf8.RuneCount(s))
}

// capital is unicode.ToUpper, and the one letter whose capital Unicode does
// not lead to, and DuckDB does.
func capital(r rune) rune {
	if r == 'ß' {
		return 'ẞ'
	}
	return unicode.ToUpper(r)
}

// eachBytes fills out with what add appends for each row that is not NULL.
func (f *frame) eachBytes(add func(i int, to []byte) []byte) error {
	for i := range f.n {
		if f.out.IsNull(i) {
			f.clearRow(i)
			continue
		}
		start := len(f.out.Data)
		f.out.Data = add(i, f.out.Data)
		if err := f.closeSpan(i, start); err != nil {
			return err
		}
	}
	return nil
}

// concat binds l || r; what is not a string becomes its text.
func concat(l, r *bound, src Node) (*bound, error) {
	var err error
	if l, err = explicitCast(l, stringType, src); err != nil {
		return nil, err
	}
	if r, err = explicitCast(r, stringType, src); err != nil {
		return nil, err
	}
	return strict(stringType, src, func(f *frame) error {
		return f.eachBytes(func(i int, to []byte) []byte {
			return append(append(to, f.args[0].Bytes(i)...), f.args[1].Bytes(i)...)
		})
	}, l, r), nil
}

// length binds length(x): the characters of a string, the bytes of a binary.
func length(c *call) (*bound, error) {
	if c.args[0].typ != stringType {
		return byteLength(c) // the span of a list counts elements
	}
	return c.strict(func(f *frame) error {
		for i := range f.n {
			f.out.Int[i] = runes(f.args[0].Bytes(i))
		}
		return nil
	}, c.args...).onCharacters(), nil
}

// byteLength binds strlen(x).
func byteLength(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		for i, s := range f.args[0].Span[:f.n] {
			f.out.Int[i] = int64(s.Len)
		}
		return nil
	}, c.args...).onLength(), nil
}

// testPieces binds a condition on two strings, the pieces of whose pattern are known of a second
// one that is constant.
func testPieces(test func(s, part []byte) bool, pieces func(part string) []string) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		n := c.strict(func(f *frame) error {
			for i := range f.out.Int {
				f.out.Int[i] = truth(test(f.args[0].Bytes(i), f.args[1].Bytes(i)))
			}
			return nil
		}, c.args...)
		if part := c.args[1]; part.kind == boundConst {
			n = n.onMatch(false, false, pieces(part.value.Bytes)...)
		}
		return n, nil
	}
}

// position binds strpos(s, part).
func position(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		for i := range f.out.Int {
			s := f.args[0].Bytes(i)
			at := bytes.Index(s, f.args[1].Bytes(i))
			f.out.Int[i] = int64(utf8.RuneCount(s[:max(at, 0)])) + truth(at >= 0)
		}
		return nil
	}, c.args...), nil
}

// reversed binds reverse(s), character by character.
func reversed(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		return f.eachBytes(func(i int, to []byte) []byte {
			for s := f.args[0].Bytes(i); len(s) > 0; {
				_, size := utf8.DecodeLastRune(s)
				to = append(to, s[len(s)-size:]...)
				s = s[:len(s)-size]
			}
			return to
		})
	}, c.args...), nil
}

// mostPadded is the most characters a text is padded to. The memory for one row's text is not
// reserved in a budget.
const mostPadded = 1 << 20

// padded binds lpad(s, n, by), and rpad if right is set. The result has n characters: of s alone
// if s has as many.
func padded(right bool) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		return c.strict(func(f *frame) error {
			var failed error
			err := f.eachBytes(func(i int, to []byte) []byte {
				s, n, by := f.args[0].Bytes(i), f.args[1].Int[i], f.args[2].Bytes(i)
				has := runes(s)
				switch {
				case n <= has:
					return append(to, s[:skipRunes(s, max(n, 0))]...)
				case n > mostPadded:
					failed = &ValueError{Value: string(s), Large: fmt.Sprintf("the result would have %d characters, and may have %d", n, mostPadded)}
					return to
				case len(by) == 0:
					failed = &ValueError{Value: string(s), Type: fmt.Sprintf("a text of %d characters", n)}
					return to
				}
				if right {
					to = append(to, s...)
				}
				for ; has < n; has += runes(by) {
					to = append(to, by[:skipRunes(by, n-has)]...)
				}
				if !right {
					to = append(to, s...)
				}
				return to
			})
			return errors.Join(err, failed)
		}, c.args...), nil
	}
}

// replaced binds replace(s, part, by).
func replaced(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		return f.eachBytes(func(i int, to []byte) []byte {
			s, part, by := f.args[0].Bytes(i), f.args[1].Bytes(i), f.args[2].Bytes(i)
			for len(part) > 0 {
				at := bytes.Index(s, part)
				if at < 0 {
					break
				}
				to = append(append(to, s[:at]...), by...)
				s = s[at+len(part):]
			}
			return append(to, s...)
		})
	}, c.args...), nil
}

// concatenation binds concat(a, b, …).
func concatenation(c *call) (*bound, error) {
	n := &bound{kind: boundLax, typ: stringType, src: c.n}
	for i, a := range c.args {
		text, err := explicitCast(a, stringType, c.n.Args[i])
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, text)
	}
	n.kernel = func(f *frame) error {
		return f.eachBytes(func(i int, to []byte) []byte {
			for _, a := range f.args {
				if !a.IsNull(i) {
					to = append(to, a.Bytes(i)...)
				}
			}
			return to
		})
	}
	n = n.finish()
	n.nullIn = false // of nothing but NULL it is empty
	return n, nil
}
