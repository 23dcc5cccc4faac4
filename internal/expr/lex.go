package expr

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEnd    tokenKind = iota
	tokName             // bare identifier or keyword; text as typed
	tokQuoted           // "quoted identifier"; text without quotes and doubling
	tokNumber           // text as typed
	tokString           // 'string'; text without quotes and doubling
	tokOp               // operator or punctuation, canonical: "==" is "=", "!=" is "<>"
	tokPlace            // #3; text as typed
	tokParam            // ?, which is ?2 if it is the second one, or $3
)

type token struct {
	kind     tokenKind
	text     string
	pos, end int // byte offsets in the text
}

// is reports whether t is the keyword word, in any case.
func (t token) is(word string) bool {
	return t.kind == tokName && strings.EqualFold(t.text, word)
}

func (t token) isOp(op string) bool { return t.kind == tokOp && t.text == op }

// String names t in an error message.
func (t token) String() string {
	switch t.kind {
	case tokEnd:
		return "end of text"
	case tokString:
		return fmt.Sprintf("string '%s'", oneLine(t.text))
	case tokQuoted:
		return fmt.Sprintf("name %q", t.text)
	case tokNumber:
		return "number " + t.text
	case tokParam:
		return "parameter"
	}
	return "\"" + t.text + "\""
}

// lex cuts text into tokens. The last one is always tokEnd.
func lex(text string) ([]token, error) {
	l := lexer{text: text}
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		l.tokens = append(l.tokens, t)
		if t.kind == tokEnd {
			return l.tokens, nil
		}
	}
}

type lexer struct {
	text   string
	pos    int
	asked  int // how many ? there were
	tokens []token
}

func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	start := l.pos
	if start == len(l.text) {
		return token{kind: tokEnd, pos: start, end: start}, nil
	}
	switch c := l.text[start]; {
	case isNameStart(l.text[start:]) > 0:
		for n := isNameStart(l.text[l.pos:]); n > 0; n = isNamePart(l.text[l.pos:]) {
			l.pos += n
		}
		return l.token(tokName, start), nil
	case c == '"':
		return l.quoted(tokQuoted, "name")
	case c == '\'':
		return l.quoted(tokString, "string")
	case isDigit(c), c == '.' && start+1 < len(l.text) && isDigit(l.text[start+1]):
		return l.number()
	case c == '#':
		return l.place()
	case c == '?':
		l.pos++
		l.asked++
		return token{kind: tokParam, text: "?" + strconv.Itoa(l.asked), pos: start, end: l.pos}, nil
	case c == '$' && start+1 < len(l.text) && l.text[start+1] >= '1' && l.text[start+1] <= '9':
		l.pos++
		l.digits()
		return l.token(tokParam, start), nil
	}
	return l.operator()
}

// skip passes over white space and comments: -- to the end of the line, and /* to */.
func (l *lexer) skip() error {
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r):
			l.pos += size
		case strings.HasPrefix(rest, "--"):
			if size = strings.IndexByte(rest, '\n'); size < 0 {
				size = len(rest)
			}
			l.pos += size
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return l.fail(l.pos, "a comment without */ at its end")
			}
			l.pos += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) token(kind tokenKind, start int) token {
	return token{kind: kind, text: l.text[start:l.pos], pos: start, end: l.pos}
}

// quoted reads to the closing quote; a doubled quote stands for itself.
func (l *lexer) quoted(kind tokenKind, what string) (token, error) {
	start, q := l.pos, l.text[l.pos]
	var b strings.Builder
	for i := start + 1; i < len(l.text); i++ {
		if l.text[i] != q {
			b.WriteByte(l.text[i])
			continue
		}
		if i+1 < len(l.text) && l.text[i+1] == q {
			b.WriteByte(q)
			i++
			continue
		}
		l.pos = i + 1
		if kind == tokQuoted && b.Len() == 0 {
			return token{}, l.fail(start, "empty name")
		}
		return token{kind: kind, text: b.String(), pos: start, end: l.pos}, nil
	}
	return token{}, l.fail(start, "%s without a closing %c", what, q)
}

// number reads digits [. digits] [e [sign] digits] or . digits …. Between digits there may be
// single underscores, which the token has not.
func (l *lexer) number() (token, error) {
	start := l.pos
	l.grouped()
	if l.peek() == '.' {
		l.pos++
		l.grouped()
	}
	if c := l.peek(); c == 'e' || c == 'E' {
		l.pos++
		if c := l.peek(); c == '+' || c == '-' {
			l.pos++
		}
		if !isDigit(l.peek()) {
			return token{}, l.fail(start, "number without digits in its exponent")
		}
		l.grouped()
	}
	if isNamePart(l.text[l.pos:]) > 0 {
		return token{}, l.fail(l.pos, "a name cannot begin with a digit; quote it with \"")
	}
	t := l.token(tokNumber, start)
	t.text = strings.ReplaceAll(t.text, "_", "")
	return t, nil
}

// grouped reads digits, with single underscores between them.
func (l *lexer) grouped() {
	l.digits()
	for l.pos > 0 && isDigit(l.text[l.pos-1]) && l.peek() == '_' && l.pos+1 < len(l.text) && isDigit(l.text[l.pos+1]) {
		l.pos++
		l.digits()
	}
}

func (l *lexer) place() (token, error) {
	start := l.pos
	l.pos++
	l.digits()
	if l.pos == start+1 {
		return token{}, l.fail(start, "# needs the number of a column")
	}
	return l.token(tokPlace, start), nil
}

func (l *lexer) operator() (token, error) {
	rest := l.text[l.pos:]
	for _, s := range symbols {
		if strings.HasPrefix(rest, s.text) {
			t := token{kind: tokOp, text: s.canonical, pos: l.pos, end: l.pos + len(s.text)}
			l.pos = t.end
			return t, nil
		}
	}
	if rest[0] == ':' {
		return token{}, l.fail(l.pos, "there are no slices [a:b] of lists: l[i] is an element, max(x, n) and list(x order by y) are whole lists")
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return token{}, l.fail(l.pos, "unexpected character %q", r)
}

func (l *lexer) digits() {
	for isDigit(l.peek()) {
		l.pos++
	}
}

// peek is the next byte, 0 at the end.
func (l *lexer) peek() byte {
	if l.pos < len(l.text) {
		return l.text[l.pos]
	}
	return 0
}

func (l *lexer) fail(pos int, format string, args ...any) error {
	return &Error{Text: l.text, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isNameStart gives the size of the character at the start of s if a bare
// name may begin with it, else 0. Letters of all scripts count.
func isNameStart(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	if r == '_' || r != utf8.RuneError && unicode.IsLetter(r) {
		return size
	}
	return 0
}

func isNamePart(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	if r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) {
		return size
	}
	return 0
}

// plainName reports whether name needs no quotes. It allows ASCII only, so
// that canonical text is safe to paste anywhere.
func plainName(name string) bool {
	if name == "" || isDigit(name[0]) || reserved[strings.ToLower(name)] {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// reserved are the words that a bare column cannot be named. Other keywords
// (date, filter, desc) are known by what follows them, since data has
// columns of these names.
var reserved = map[string]bool{
	"and": true, "or": true, "not": true, "is": true, "in": true, "between": true,
	"like": true, "ilike": true, "null": true, "true": true, "false": true,
	"case": true, "when": true, "then": true, "else": true, "end": true, "as": true, "distinct": true,
}
