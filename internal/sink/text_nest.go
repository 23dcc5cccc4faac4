package sink

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// nestedAppender writes lists and maps as DuckDB does, [1, 2] and {a=1, b=2},
// so that its casts read them back.
func nestedAppender(t column.Type) appender {
	elem := elementAppender(t.Elem())
	opening, closing := byte('['), byte(']')
	if t.Nest == column.Map {
		opening, closing = '{', '}'
	}
	return func(dst []byte, v *column.Vector, i int) []byte {
		dst = append(dst, opening)
		from, to := v.Range(i)
		for j := from; j < to; j++ {
			if j > from {
				dst = append(dst, ", "...)
			}
			dst = elem(dst, v.Elem, j)
			if t.Nest == column.Map {
				dst = appendInt(append(dst, '='), v.Counts[j])
			}
		}
		return append(dst, closing)
	}
}

// elementAppender is the appender of t with the quotes that the text needs
// between others.
func elementAppender(t column.Type) appender {
	form, value := formOf(t)
	if form != plain && form != freeText {
		return value
	}
	var raw []byte
	return func(dst []byte, v *column.Vector, i int) []byte {
		start := len(dst)
		dst = value(dst, v, i)
		if !needsQuotes(dst[start:]) {
			return dst
		}
		raw = append(raw[:0], dst[start:]...)
		return appendElementQuoted(dst[:start], raw)
	}
}

// needsQuotes reports whether an element would not be taken for itself: it is
// empty or the word null, begins or ends with white space, or holds a mark
// of the text form. A backslash alone escapes nothing outside of quotes.
func needsQuotes(s []byte) bool {
	return len(s) == 0 || isSpace(s[0]) || isSpace(s[len(s)-1]) || bytes.EqualFold(s, []byte(nullShown)) || bytes.ContainsAny(s, elementMarks)
}

const elementMarks = `,=:'"[](){}`

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// appendElementQuoted writes s in single quotes, with a backslash before
// quotes of that kind and backslashes.
func appendElementQuoted(dst, s []byte) []byte {
	return append(appendElementEscaped(append(dst, '\''), s), '\'')
}

func appendElementEscaped(dst, s []byte) []byte {
	for _, c := range s {
		if c == '\'' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}

// jsonValue writes the values of a column as JSON.
type jsonValue struct {
	form  textForm
	text  appender
	elem  *jsonValue // of a list or map
	field []byte
}

func newJSONValue(t column.Type) *jsonValue {
	w := &jsonValue{}
	w.form, w.text = formOf(t)
	if t.IsNested() {
		w.elem = newJSONValue(t.Elem())
	}
	return w
}

func (w *jsonValue) append(dst []byte, v *column.Vector, i int) []byte {
	switch {
	case v.IsNull(i):
		return append(dst, "null"...)
	case w.form == nested && v.Type.Nest == column.Map:
		return w.appendObject(dst, v, i)
	case w.form == nested:
		return w.appendArray(dst, v, i)
	case w.form == plain, w.form == float && (math.IsNaN(v.Float[i]) || math.IsInf(v.Float[i], 0)):
		return w.appendInQuotes(dst, v, i)
	case w.form == freeText && v.Type.Kind == column.String && utf8.Valid(v.Bytes(i)):
		return appendJSONString(dst, v.Bytes(i))
	case w.form == freeText:
		w.field = w.text(w.field[:0], v, i)
		return appendJSONString(dst, w.field)
	}
	return w.text(dst, v, i)
}

// appendInQuotes is for text without characters that must be escaped.
func (w *jsonValue) appendInQuotes(dst []byte, v *column.Vector, i int) []byte {
	return append(w.text(append(dst, '"'), v, i), '"')
}

func (w *jsonValue) appendArray(dst []byte, v *column.Vector, i int) []byte {
	dst = append(dst, '[')
	from, to := v.Range(i)
	for j := from; j < to; j++ {
		if j > from {
			dst = append(dst, ',')
		}
		dst = w.elem.append(dst, v.Elem, j)
	}
	return append(dst, ']')
}

// appendObject makes a member of each entry: a key that is no string becomes
// one.
func (w *jsonValue) appendObject(dst []byte, v *column.Vector, i int) []byte {
	dst = append(dst, '{')
	from, to := v.Range(i)
	for j := from; j < to; j++ {
		if j > from {
			dst = append(dst, ',')
		}
		if w.elem.form == freeText {
			dst = w.elem.append(dst, v.Elem, j)
		} else {
			dst = w.elem.appendInQuotes(dst, v.Elem, j)
		}
		dst = appendInt(append(dst, ':'), v.Counts[j])
	}
	return append(dst, '}')
}
