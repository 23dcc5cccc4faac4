package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// Limits that keep hostile text from exhausting the stack: recursion is
// bounded by maxDepth brackets and prefix operators, and the height of a tree
// (operators chain to the left) by the length of the text.
const (
	maxDepth = 200
	maxText  = 1 << 20
)

// Parse reads one expression.
func Parse(text string) (Node, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	n, err := p.expr(levelNone)
	if err != nil {
		return nil, err
	}
	return n, p.end()
}

type parser struct {
	text   string
	tokens []token
	i      int
	depth  int
}

func newParser(text string) (*parser, error) {
	if len(text) > maxText {
		return nil, &Error{Text: text, Pos: maxText, Msg: fmt.Sprintf("expression longer than %d bytes", maxText)}
	}
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	return &parser{text: text, tokens: tokens}, nil
}

// peek is the token k places ahead, the end token past the end.
func (p *parser) peek(k int) token {
	return p.tokens[min(p.i+k, len(p.tokens)-1)]
}

func (p *parser) advance() token {
	t := p.peek(0)
	p.i = min(p.i+1, len(p.tokens)-1)
	return t
}

// accept takes the next token if it is the keyword word.
func (p *parser) accept(word string) bool {
	if p.peek(0).is(word) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) acceptOp(op string) bool {
	if p.peek(0).isOp(op) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(word string) error {
	if p.accept(word) {
		return nil
	}
	return p.unexpected("\"" + word + "\"")
}

func (p *parser) expectOp(op string) error {
	if p.acceptOp(op) {
		return nil
	}
	return p.unexpected("\"" + op + "\"")
}

func (p *parser) end() error {
	if p.peek(0).kind == tokEnd {
		return nil
	}
	return p.unexpected("end of text")
}

func (p *parser) unexpected(want string) error {
	t := p.peek(0)
	return p.fail(t.pos, "expected %s, found %s", want, t)
}

func (p *parser) fail(pos int, format string, args ...any) error {
	return &Error{Text: p.text, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// expr reads an expression whose operators all bind more tightly than lv
// does (precedence climbing).
func (p *parser) expr(lv level) (Node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.peek(0).pos, "nested deeper than %d levels", maxDepth)
	}
	defer func() { p.depth-- }()
	left, err := p.prefix(lv)
	for err == nil {
		op := p.infixLevel()
		if op <= lv {
			return left, nil
		}
		left, err = p.infix(left, op)
	}
	return nil, err
}

// infixLevel is the level of the infix or postfix operator that comes next,
// levelNone if there is none.
func (p *parser) infixLevel() level {
	t := p.peek(0)
	if t.kind != tokOp && t.kind != tokName {
		return levelNone
	}
	if t.isOp("::") || t.isOp("[") {
		return levelCast
	}
	if t.is("is") || t.is("isnull") || t.is("notnull") {
		return levelIs
	}
	if t.is("at") && p.peek(1).is("time") {
		return levelZone
	}
	member := t
	if t.is("not") { // x not in, x not between, x not like
		member = p.peek(1)
	}
	for _, word := range []string{"in", "between", "like", "ilike", "similar"} {
		if member.is(word) {
			return levelIn
		}
	}
	return binaryLevels[strings.ToLower(t.text)]
}

func (p *parser) infix(left Node, lv level) (Node, error) {
	switch lv {
	case levelIs:
		return p.is(left)
	case levelIn:
		return p.membership(left)
	case levelCast:
		t := p.advance()
		if t.isOp("[") {
			i, err := p.expr(levelNone)
			if err != nil {
				return nil, err
			}
			return &Call{At: t.pos, Name: "list_extract", Args: []Node{left, i}}, p.expectOp("]")
		}
		to, err := p.typeName()
		return &Cast{At: t.pos, X: left, To: to}, err
	case levelZone:
		return p.atTimeZone(left)
	}
	t := p.advance()
	right, err := p.expr(lv)
	if err != nil {
		return nil, err
	}
	if next := p.peek(0); lv == levelCompare && p.infixLevel() == levelCompare {
		return nil, p.fail(next.pos, "comparisons do not chain; join them with \"and\"")
	}
	return operation(t, left, right), nil
}

// operation is an operator between two operands; some are other names of functions.
func operation(t token, l, r Node) Node {
	call := func(name string) Node { return &Call{At: t.pos, Name: name, Args: []Node{l, r}} }
	switch op := strings.ToLower(t.text); op {
	case "**", "^":
		return call("power")
	case "^@":
		return call("starts_with")
	case "->":
		return call("json_extract")
	case "->>":
		return call("json_extract_string")
	case "~":
		return call("regexp_full_match")
	case "!~":
		return &Unary{At: t.pos, Op: "not", X: call("regexp_full_match")}
	default:
		return &Binary{At: t.pos, Op: op, L: l, R: r}
	}
}

// is reads `is [not] null`, `is [not] true`, `is [not] false` and `is [not] distinct from …`. All
// but the first become case expressions.
func (p *parser) is(x Node) (Node, error) {
	word := p.advance()
	at := word.pos
	if !word.is("is") { // isnull, notnull
		return &IsNull{At: at, X: x, Not: word.is("notnull")}, nil
	}
	not := p.accept("not")
	switch {
	case p.accept("null"), p.accept("unknown"):
		return &IsNull{At: at, X: x, Not: not}, nil
	case p.accept("true"):
		return tests(at, x, not), nil
	case p.accept("false"):
		return tests(at, &Unary{At: at, Op: "not", X: x}, not), nil
	case p.accept("distinct"):
		if err := p.expect("from"); err != nil {
			return nil, err
		}
		y, err := p.expr(levelCompare)
		return distinct(at, x, y, not), err
	}
	return nil, p.unexpected("null, true, false, unknown or distinct from")
}

// tests is whether a condition is true, which NULL is not; with not whether it is not.
func tests(at int, x Node, not bool) Node {
	return &Case{At: at, Whens: []When{{If: x, Then: truthNode(at, !not)}}, Else: truthNode(at, not)}
}

// distinct is whether two values differ, where NULL is a value like others. If not is set it is
// whether they are equal.
func distinct(at int, x, y Node, not bool) Node {
	op := "<>"
	if not {
		op = "="
	}
	return &Case{
		At: at,
		Whens: []When{
			{If: &IsNull{At: at, X: x}, Then: &IsNull{At: at, X: y, Not: !not}},
			{If: &IsNull{At: at, X: y}, Then: truthNode(at, !not)},
		},
		Else: &Binary{At: at, Op: op, L: x, R: y},
	}
}

func truthNode(at int, x bool) Node {
	return &Literal{At: at, Value: column.Value{Type: boolType, Int: truth(x)}}
}

// atTimeZone reads `at time zone 'Europe/Berlin'`, which is timezone('Europe/Berlin', x).
func (p *parser) atTimeZone(x Node) (Node, error) {
	at := p.advance().pos
	p.advance() // time
	if err := p.expect("zone"); err != nil {
		return nil, err
	}
	zone, err := p.expr(levelZone)
	return &Call{At: at, Name: "timezone", Args: []Node{zone, x}}, err
}

// membership reads `[not] in (…)`, `[not] between … and …` and
// `[not] [i]like …`.
func (p *parser) membership(x Node) (Node, error) {
	at := p.peek(0).pos
	not := p.accept("not")
	switch t := p.advance(); {
	case t.is("in"):
		if err := p.expectOp("("); err != nil {
			return nil, err
		}
		list, err := p.exprs()
		if err != nil {
			return nil, err
		}
		return &In{At: at, X: x, List: list, Not: not}, p.expectOp(")")
	case t.is("between"):
		lo, err := p.expr(levelIn)
		if err == nil {
			err = p.expect("and")
		}
		if err != nil {
			return nil, err
		}
		hi, err := p.expr(levelIn)
		return &Between{At: at, X: x, Lo: lo, Hi: hi, Not: not}, err
	case t.is("similar"):
		if err := p.expect("to"); err != nil {
			return nil, err
		}
		pattern, err := p.expr(levelIn)
		n := Node(&Call{At: at, Name: "regexp_full_match", Args: []Node{x, pattern}})
		if not {
			n = &Unary{At: at, Op: "not", X: n}
		}
		return n, err
	default:
		pattern, err := p.expr(levelIn)
		if err != nil {
			return nil, err
		}
		n := &Like{At: at, X: x, Pattern: pattern, Fold: t.is("ilike"), Not: not}
		n.Escape, err = p.escape()
		return n, err
	}
}

// escape reads [escape 'c']; ” stands for none.
func (p *parser) escape() (string, error) {
	if !p.accept("escape") {
		return "", nil
	}
	if t := p.peek(0); t.kind != tokString || utf8.RuneCountInString(t.text) > 1 || t.text == "%" || t.text == "_" {
		return "", p.unexpected("one character, such as '!', other than % and _")
	}
	return p.advance().text, nil
}

// exprs reads expressions between commas, at least one.
func (p *parser) exprs() ([]Node, error) {
	var list []Node
	for {
		n, err := p.expr(levelNone)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if !p.acceptOp(",") {
			return list, nil
		}
	}
}
