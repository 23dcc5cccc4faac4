package sink

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// nullShown is NULL where people read it: in tables, not in data formats.
const nullShown = "NULL"

// shown is the text of values for human eyes: as in CSV, but NULL is a word and
// characters that would move the cursor, colour the terminal or turn the
// reading direction are escaped.
type shown struct {
	forms []textForm
	value []appender
	raw   []byte
}

func newShown(fields []column.Field) *shown {
	s := &shown{}
	for _, f := range fields {
		form, value := formOf(f.Type)
		s.forms, s.value = append(s.forms, form), append(s.value, value)
	}
	return s
}

// append appends the text of row i of column c.
func (s *shown) append(dst []byte, c int, v *column.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, nullShown...)
	}
	if s.forms[c] < freeText {
		return s.value[c](dst, v, i)
	}
	s.raw = s.value[c](s.raw[:0], v, i)
	return AppendVisible(dst, s.raw, "")
}

// isRight reports whether column c is aligned to the right, as numbers are.
func (s *shown) isRight(c int) bool { return s.forms[c] == number || s.forms[c] == float }

// AppendVisible appends s with what is not to be read on a terminal escaped as
// in Go and JSON: control characters but those of keep, marks that turn the
// reading direction, bytes that are not UTF-8: \n, \x1b, \u202e, \xff.
func AppendVisible(dst, s []byte, keep string) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, '\\', 'x', hexDigits[s[0]>>4], hexDigits[s[0]&15])
		case isHiddenRune(r) && !strings.ContainsRune(keep, r):
			quoted := strconv.AppendQuoteRuneToASCII(nil, r)
			dst = append(dst, quoted[1:len(quoted)-1]...)
		default:
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
	return dst
}

func isHiddenRune(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
