package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// eachText fills out with what add appends for each row that is not NULL, or fails.
func (f *frame) eachText(add func(i int, to []byte) ([]byte, error)) error {
	var failed error
	err := f.eachBytes(func(i int, to []byte) []byte {
		if failed != nil {
			return to
		}
		var text []byte
		if text, failed = add(i, to); failed != nil {
			return to
		}
		return text
	})
	if failed != nil {
		return failed
	}
	return err
}

// ofText binds a function of one text that gives another.
func ofText(add func(to, s []byte) ([]byte, error)) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		return c.strict(func(f *frame) error {
			return f.eachText(func(i int, to []byte) ([]byte, error) { return add(to, f.args[0].Bytes(i)) })
		}, c.args[0]), nil
	}
}

func addMD5(to, s []byte) ([]byte, error) {
	sum := md5.Sum(s)
	return hex.AppendEncode(to, sum[:]), nil
}

func addSHA1(to, s []byte) ([]byte, error) {
	sum := sha1.Sum(s)
	return hex.AppendEncode(to, sum[:]), nil
}

func addSHA256(to, s []byte) ([]byte, error) {
	sum := sha256.Sum256(s)
	return hex.AppendEncode(to, sum[:]), nil
}

const capitalHex = "0123456789ABCDEF"

func addHex(to, s []byte) ([]byte, error) {
	for _, b := range s {
		to = append(to, capitalHex[b>>4], capitalHex[b&15])
	}
	return to, nil
}

// addUnhex reads digits of bytes; one may be missing in front.
func addUnhex(to, s []byte) ([]byte, error) {
	if len(s)%2 == 1 {
		s = append([]byte{'0'}, s...)
	}
	out, err := hex.AppendDecode(to, s)
	if err != nil {
		return to, &ValueError{Value: string(s), Type: "bytes: these are no hexadecimal digits"}
	}
	return out, nil
}

func addBase64(to, s []byte) ([]byte, error) { return base64.StdEncoding.AppendEncode(to, s), nil }

func addFromBase64(to, s []byte) ([]byte, error) {
	out, err := base64.StdEncoding.Strict().AppendDecode(to, s)
	if err != nil {
		return to, &ValueError{Value: string(s), Type: "bytes: this is no base64"}
	}
	return out, nil
}

// addURLEncoded keeps letters, digits and - . _ ~, as RFC 3986 has it.
func addURLEncoded(to, s []byte) ([]byte, error) {
	for _, b := range s {
		if lower := b | 0x20; 'a' <= lower && lower <= 'z' || isDigit(b) || b == '-' || b == '.' || b == '_' || b == '~' {
			to = append(to, b)
			continue
		}
		to = append(to, '%', capitalHex[b>>4], capitalHex[b&15])
	}
	return to, nil
}

// addURLDecoded leaves what is no escape as it is.
func addURLDecoded(to, s []byte) ([]byte, error) {
	start := len(to)
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if b, err := url.PathUnescape(string(s[i : i+3])); err == nil {
				to, i = append(to, b...), i+2
				continue
			}
		}
		to = append(to, s[i])
	}
	if !utf8.Valid(to[start:]) {
		return to, &ValueError{Value: string(s), Type: "text: what it stands for is no UTF-8"}
	}
	return to, nil
}

// hexOf binds hex(x), of the bits of an integer or of the bytes of a text.
func hexOf(c *call) (*bound, error) {
	if !c.args[0].typ.IsInteger() {
		return ofText(addHex)(c)
	}
	return c.strict(func(f *frame) error {
		return f.eachBytes(func(i int, to []byte) []byte {
			start := len(to)
			to = strconv.AppendUint(to, uint64(f.args[0].Int[i]), 16)
			for k, b := range to[start:] {
				if b >= 'a' {
					to[start+k] = b - 'a' + 'A'
				}
			}
			return to
		})
	}, c.args[0]), nil
}

// codePoint binds ascii and unicode: the number of the first character, or empty for the empty
// text.
func codePoint(empty int64) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		return c.strict(func(f *frame) error {
			for i := range f.n {
				s := f.args[0].Bytes(i)
				f.out.Int[i] = empty
				if len(s) > 0 {
					r, _ := utf8.DecodeRune(s)
					f.out.Int[i] = int64(r)
				}
			}
			return nil
		}, c.args[0]), nil
	}
}

// character binds chr(n).
func character(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		return f.eachText(func(i int, to []byte) ([]byte, error) {
			n := f.args[0].Int[i]
			if n != int64(rune(n)) || !utf8.ValidRune(rune(n)) {
				return to, &ValueError{Value: fmt.Sprint(n), Type: "a character"}
			}
			return utf8.AppendRune(to, rune(n)), nil
		})
	}, c.args[0]), nil
}

// repeated binds repeat(s, n).
func repeated(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		return f.eachText(func(i int, to []byte) ([]byte, error) {
			s, n := f.args[0].Bytes(i), f.args[1].Int[i]
			if len(s) > 0 && n > int64(mostPadded/len(s)) {
				return to, &ValueError{Value: string(s), Large: fmt.Sprintf("the result would have %d times %d bytes, and may have %d", n, len(s), mostPadded)}
			}
			for range max(n, 0) * truth(len(s) > 0) {
				to = append(to, s...)
			}
			return to, nil
		})
	}, c.args...), nil
}

// translated binds translate(s, from, to): each character of from is replaced by the one at its
// place in to, or removed where to has none.
func translated(c *call) (*bound, error) {
	to := []rune(c.args[2].value.Bytes)
	by := map[rune]rune{}
	for i, r := range []rune(c.args[1].value.Bytes) {
		if _, there := by[r]; there {
			continue
		}
		by[r] = -1
		if i < len(to) {
			by[r] = to[i]
		}
	}
	return c.strict(func(f *frame) error {
		return f.eachBytes(func(i int, out []byte) []byte {
			for s := f.args[0].Bytes(i); len(s) > 0; {
				r, size := utf8.DecodeRune(s)
				switch as, there := by[r]; {
				case !there || r == utf8.RuneError && size == 1:
					out = append(out, s[:size]...)
				case as >= 0:
					out = utf8.AppendRune(out, as)
				}
				s = s[size:]
			}
			return out
		})
	}, c.args[0]), nil
}

// joined binds concat_ws(separator, a, …): NULL does not count, but as separator.
func joined(c *call) (*bound, error) {
	n := &bound{kind: boundLax, typ: stringType, src: c.n, args: []*bound{c.args[0]}}
	if isNullConst(c.args[0]) {
		return newNull(stringType), nil
	}
	for i, a := range c.args[1:] {
		text, err := explicitCast(a, stringType, c.n.Args[i+1])
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, text)
	}
	n.kernel = func(f *frame) error {
		f.out.Null = f.args[0].Null
		return f.eachBytes(func(i int, to []byte) []byte {
			sep, first := f.args[0].Bytes(i), true
			for _, a := range f.args[1:] {
				if a.IsNull(i) {
					continue
				}
				if !first {
					to = append(to, sep...)
				}
				to, first = append(to, a.Bytes(i)...), false
			}
			return to
		})
	}
	return n.finish(), nil
}

// bitLength binds bit_length(s).
func bitLength(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		for i, s := range f.args[0].Span[:f.n] {
			f.out.Int[i] = 8 * int64(s.Len)
		}
		return nil
	}, c.args...), nil
}

// mostCompared is the longest text whose distance from another is computed: the time is the
// product of their lengths.
const mostCompared = 16 << 10

// levenshtein binds levenshtein(a, b), of bytes.
func levenshtein(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		var row []int64
		return f.failing(func(i int) error {
			a, b := f.args[0].Bytes(i), f.args[1].Bytes(i)
			if max(len(a), len(b)) > mostCompared {
				return &ValueError{Value: string(a), Large: fmt.Sprintf("a text of %d bytes, and there may be %d", max(len(a), len(b)), mostCompared)}
			}
			row = sized(row, len(b)+1)
			for k := range row {
				row[k] = int64(k)
			}
			for _, x := range a {
				before := row[0]
				row[0]++
				for k, y := range b {
					next := min(before+truth(x != y), row[k]+1, row[k+1]+1)
					before, row[k+1] = row[k+1], next
				}
			}
			f.out.Int[i] = row[len(b)]
			return nil
		})
	}, c.args...), nil
}

// hexable is what hex takes.
func hexable(t column.Type) bool { return t.IsInteger() || t.Rep() == column.RepBytes }
