package expr

import (
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// prefix reads an operand: a primary, or a prefix operator and its operand.
// lv is the level of the operator to the left.
func (p *parser) prefix(lv level) (Node, error) {
	t := p.peek(0)
	switch {
	case t.isOp("-"):
		p.advance()
		x, err := p.expr(levelPower)
		if err != nil {
			return nil, err
		}
		if lit, ok := x.(*Literal); ok && lit.Value.Type.IsNumeric() {
			return &Literal{At: t.pos, Value: negateLiteral(lit.Value)}, nil
		}
		return &Unary{At: t.pos, Op: "-", X: x}, nil
	case t.isOp("+"): // a sign that changes nothing
		p.advance()
		return p.expr(levelPower)
	case t.isOp("~"):
		p.advance()
		x, err := p.expr(levelPower)
		return &Unary{At: t.pos, Op: "~", X: x}, err
	case t.is("not"):
		if lv > levelNot {
			return nil, p.fail(t.pos, "\"not\" needs parentheses here")
		}
		p.advance()
		x, err := p.expr(levelAnd)
		if err != nil {
			return nil, err
		}
		return &Unary{At: t.pos, Op: "not", X: x}, nil
	}
	return p.primary()
}

func (p *parser) primary() (Node, error) {
	t := p.peek(0)
	switch t.kind {
	case tokNumber:
		p.advance()
		v, ok := parseNumber(t.text)
		if !ok {
			return nil, p.fail(t.pos, "number out of range")
		}
		return &Literal{At: t.pos, Value: v}, nil
	case tokString:
		p.advance()
		return &Literal{At: t.pos, Value: stringValue(t.text)}, nil
	case tokPlace:
		p.advance()
		return &Column{At: t.pos, Name: t.text}, nil
	case tokParam:
		p.advance()
		return t.param(), nil
	case tokQuoted:
		return p.column()
	case tokName:
		return p.word()
	}
	if p.acceptOp("[") {
		items, err := p.exprs()
		if err != nil {
			return nil, err
		}
		return &List{At: t.pos, Items: items}, p.expectOp("]")
	}
	if !p.acceptOp("(") {
		return nil, p.unexpected("an expression")
	}
	n, err := p.expr(levelNone)
	if err != nil {
		return nil, err
	}
	return n, p.expectOp(")")
}

// word reads what begins with a bare word: a constant, case, cast, a typed
// literal, a call or a column.
func (p *parser) word() (Node, error) {
	t, next := p.peek(0), p.peek(1)
	word := strings.ToLower(t.text)
	switch {
	case word == "null":
		p.advance()
		return &Literal{At: t.pos, Value: nullValue}, nil
	case word == "true", word == "false":
		p.advance()
		return &Literal{At: t.pos, Value: boolValue(word == "true")}, nil
	case word == "case":
		return p.caseWhen()
	case reserved[word]:
		return nil, p.unexpected("an expression")
	case (word == "cast" || word == "try_cast") && next.isOp("("):
		return p.cast()
	case word == "extract" && next.isOp("("):
		return p.extract()
	case word == "position" && next.isOp("("):
		return p.position()
	case word == "interval" && (next.kind == tokString || next.kind == tokNumber || next.isOp("(")):
		return p.interval()
	case next.isOp("("):
		return p.call()
	case next.kind == tokString && (word == "date" || word == "time" || word == "timestamp" || word == "timestamptz"):
		p.advance()
		s := p.advance()
		v, ok := parseTemporal(word, s.text)
		if !ok {
			return nil, p.fail(s.pos, "'%s' is not a %s", oneLine(s.text), word)
		}
		return &Literal{At: t.pos, Value: v}, nil
	}
	return p.column()
}

// interval reads interval '1 day', interval '1' day, interval 1 day and interval (n + 1) day.
func (p *parser) interval() (Node, error) {
	at := p.advance().pos
	t := p.peek(0)
	if t.isOp("(") {
		p.advance()
		n, err := p.expr(levelNone)
		if err == nil {
			err = p.expectOp(")")
		}
		if err != nil {
			return nil, err
		}
		unit, err := p.spanUnit()
		return &Binary{At: at, Op: "*", L: n, R: &Interval{At: at, Span: unit}}, err
	}
	p.advance()
	text := t.text
	if _, ok := spanUnits()[strings.ToLower(p.peek(0).text)]; ok && p.peek(0).kind == tokName || t.kind == tokNumber {
		unit, err := p.spanUnit()
		if err != nil {
			return nil, err
		}
		name := p.tokens[p.i-1].text
		if strings.Contains(text, ".") && (unit.Micros == 0 || unit.Micros > 1e6) {
			return nil, p.fail(t.pos, "%s is no whole number of units; write interval '%s %s'", oneLine(text), oneLine(text), name)
		}
		text += " " + name
	}
	span, ok := parseSpan(text)
	if !ok {
		return nil, p.fail(t.pos, "'%s' is not an interval such as '1 day 2 hours'", oneLine(text))
	}
	return &Interval{At: at, Span: span}, nil
}

// spanUnit reads a unit of an interval.
func (p *parser) spanUnit() (Span, error) {
	t := p.peek(0)
	word := strings.ToLower(t.text)
	unit, ok := spanUnits()[word]
	if t.kind != tokName || !ok {
		return unit, p.fail(t.pos, "expected a unit, such as day, found %s%s", t, didYouMean(word, spanWords))
	}
	p.advance()
	return unit, nil
}

// column reads name [. name …].
func (p *parser) column() (Node, error) {
	t := p.advance()
	n := &Column{At: t.pos, Name: t.text}
	for p.acceptOp(".") {
		part := p.peek(0)
		if part.kind != tokName && part.kind != tokQuoted {
			return nil, p.unexpected("a name")
		}
		p.advance()
		n.Name += "." + part.text
	}
	return n, nil
}

// call reads name ( [distinct] args ) [filter (where …)].
func (p *parser) call() (Node, error) {
	t := p.advance()
	n := &Call{At: t.pos, Name: strings.ToLower(t.text)}
	p.advance() // (
	if !p.acceptOp(")") {
		if err := p.arguments(n); err != nil {
			return nil, err
		}
	}
	if p.peek(0).is("within") && p.peek(1).is("group") {
		if err := p.withinGroup(n); err != nil {
			return nil, err
		}
	}
	if over := p.peek(0); over.is("over") && p.peek(1).isOp("(") {
		return nil, p.fail(over.pos, "there are %s", noWindows)
	}
	if n.Name == "if" && len(n.Args) == 3 && !n.Distinct && n.Order == nil {
		return &Case{At: n.At, Whens: []When{{If: n.Args[0], Then: n.Args[1]}}, Else: n.Args[2]}, nil
	}
	if !p.peek(0).is("filter") || !p.peek(1).isOp("(") {
		return n, nil
	}
	p.advance()
	p.advance()
	if err := p.expect("where"); err != nil {
		return nil, err
	}
	var err error
	if n.Filter, err = p.expr(levelNone); err != nil {
		return nil, err
	}
	return n, p.expectOp(")")
}

// orderBy reads order by x [desc] [nulls first], ….
func (p *parser) orderBy(n *Call) error {
	p.advance()
	p.advance()
	for more := true; more; more = p.acceptOp(",") {
		x, err := p.expr(levelNone)
		if err != nil {
			return err
		}
		item := Item{Expr: x, Pos: x.Pos(), Desc: p.accept("desc")}
		if !item.Desc {
			p.accept("asc")
		}
		if err := p.nulls(&item); err != nil {
			return err
		}
		n.Order = append(n.Order, item)
	}
	return nil
}

// withGroup are the aggregates that are called with within group, and by which name and how many
// arguments they are known otherwise.
var withGroup = map[string]struct {
	name string
	args int
}{"percentile_cont": {"quantile", 1}, "percentile_disc": {"quantile_disc", 1}, "mode": {"mode", 0}}

// withinGroup reads within group (order by x), which makes x the first argument of n.
func (p *parser) withinGroup(n *Call) error {
	as, ok := withGroup[n.Name]
	if !ok || len(n.Args) != as.args || n.Star || n.Distinct {
		return p.fail(p.peek(0).pos, "within group stands behind percentile_cont(p), percentile_disc(p) and mode()")
	}
	p.advance()
	p.advance()
	for _, word := range []string{"(", "order", "by"} {
		if !p.acceptOp(word) && !p.accept(word) {
			return p.unexpected("\"" + word + "\"")
		}
	}
	x, err := p.expr(levelNone)
	if err != nil {
		return err
	}
	if p.accept("asc"); p.peek(0).is("desc") {
		return p.fail(p.peek(0).pos, "desc is not there in within group; take the percentile 1 - p")
	}
	n.Name, n.Args = as.name, append([]Node{x}, n.Args...)
	return p.expectOp(")")
}

func (p *parser) arguments(n *Call) error {
	sided := p.trimSide(n)
	n.Distinct = !sided && p.accept("distinct")
	switch {
	case sided && p.peek(0).is("from"): // without characters
	case !n.Distinct && p.peek(0).isOp("*") && p.peek(1).isOp(")"):
		p.advance()
		n.Star = true
	default:
		var err error
		if n.Args, err = p.exprs(); err != nil {
			return err
		}
	}
	if sided || n.Name == "trim" && len(n.Args) == 1 && p.peek(0).is("from") {
		if err := p.trimFrom(n); err != nil {
			return err
		}
	}
	if p.peek(0).is("order") && p.peek(1).is("by") {
		if err := p.orderBy(n); err != nil {
			return err
		}
	}
	if p.peek(0).is("from") && len(n.Args) == 1 && (n.Name == "substring" || n.Name == "substr") {
		if err := p.fromFor(n); err != nil {
			return err
		}
	}
	return p.expectOp(")")
}

// trims are the functions that trim([side] [characters] from s) stands for.
var trims = map[string]string{"leading": "ltrim", "trailing": "rtrim", "both": "trim"}

// trimSide reads leading, trailing or both of a call of trim, and makes it that of the function of
// that side. A column of that name is followed by an operator, a comma or a parenthesis.
func (p *parser) trimSide(n *Call) bool {
	side, ok := trims[strings.ToLower(p.peek(0).text)]
	next := p.peek(1)
	if !ok || n.Name != "trim" || p.peek(0).kind != tokName || next.kind == tokOp {
		return false
	}
	p.advance()
	n.Name = side
	return true
}

// trimFrom reads from s of a call of trim, behind the characters, if there are some.
func (p *parser) trimFrom(n *Call) error {
	if err := p.expect("from"); err != nil {
		return err
	}
	s, err := p.expr(levelNone)
	n.Args = append([]Node{s}, n.Args...)
	return err
}

// extract reads extract(part from x), which is date_part('part', x).
func (p *parser) extract() (Node, error) {
	at := p.advance().pos
	p.advance() // (
	part := p.peek(0)
	if part.kind != tokName && part.kind != tokString {
		return nil, p.unexpected("a part of a date, such as minute")
	}
	p.advance()
	if err := p.expect("from"); err != nil {
		return nil, err
	}
	x, err := p.expr(levelNone)
	if err != nil {
		return nil, err
	}
	args := []Node{&Literal{At: part.pos, Value: stringValue(strings.ToLower(part.text))}, x}
	return &Call{At: at, Name: "date_part", Args: args}, p.expectOp(")")
}

// position reads position(part in s), which is strpos(s, part).
func (p *parser) position() (Node, error) {
	at := p.advance().pos
	p.advance() // (
	part, err := p.expr(levelIn)
	if err == nil {
		err = p.expect("in")
	}
	if err != nil {
		return nil, err
	}
	s, err := p.expr(levelNone)
	if err != nil {
		return nil, err
	}
	return &Call{At: at, Name: "strpos", Args: []Node{s, part}}, p.expectOp(")")
}

// fromFor reads from start [for count] of substring(s from start for count).
func (p *parser) fromFor(n *Call) error {
	for _, word := range []string{"from", "for"} {
		if !p.accept(word) {
			return nil
		}
		x, err := p.expr(levelNone)
		if err != nil {
			return err
		}
		n.Args = append(n.Args, x)
	}
	return nil
}

// caseWhen reads case [x] when … then … [else …] end.
func (p *parser) caseWhen() (Node, error) {
	n := &Case{At: p.advance().pos}
	var err error
	if !p.peek(0).is("when") {
		if n.Operand, err = p.expr(levelNone); err != nil {
			return nil, err
		}
	}
	for len(n.Whens) == 0 || p.peek(0).is("when") {
		var w When
		if err = p.expect("when"); err != nil {
			return nil, err
		}
		if w.If, err = p.expr(levelNone); err != nil {
			return nil, err
		}
		if err = p.expect("then"); err != nil {
			return nil, err
		}
		if w.Then, err = p.expr(levelNone); err != nil {
			return nil, err
		}
		n.Whens = append(n.Whens, w)
	}
	if p.accept("else") {
		if n.Else, err = p.expr(levelNone); err != nil {
			return nil, err
		}
	}
	return n, p.expect("end")
}

// cast reads cast(x as type).
func (p *parser) cast() (Node, error) {
	t := p.advance()
	p.advance() // (
	x, err := p.expr(levelNone)
	if err != nil {
		return nil, err
	}
	if err := p.expect("as"); err != nil {
		return nil, err
	}
	to, err := p.typeName()
	if err != nil {
		return nil, err
	}
	return &Cast{At: t.pos, X: x, To: to, Try: t.is("try_cast")}, p.expectOp(")")
}

// typeName reads a type: a word, or decimal(p, s).
func (p *parser) typeName() (column.Type, error) {
	t := p.peek(0)
	if t.kind != tokName {
		return column.Type{}, p.unexpected("a type")
	}
	p.advance()
	word := strings.ToLower(t.text)
	if word == "decimal" || word == "numeric" {
		return p.decimalType()
	}
	typ, ok := castTypes[word]
	if !ok {
		return typ, p.fail(t.pos, "unknown type %q%s", t.text, didYouMean(word, castTypeNames()))
	}
	return typ, nil
}

// decimalType reads [(precision [, scale])].
func (p *parser) decimalType() (column.Type, error) {
	size := [2]int{defaultPrecision, defaultScale}
	if !p.acceptOp("(") {
		return column.DecimalType(size[0], size[1]), nil
	}
	size[1] = 0
	for i := range size {
		t := p.peek(0)
		n, err := strconv.Atoi(t.text)
		if t.kind != tokNumber || err != nil {
			return column.Type{}, p.unexpected("a number of digits")
		}
		if n > maxDigits || i == 0 && n < 1 || i == 1 && n > size[0] {
			return column.Type{}, p.fail(t.pos, "a decimal has 1 to %d digits, and no more than these after the point", maxDigits)
		}
		p.advance()
		size[i] = n
		if !p.acceptOp(",") {
			break
		}
	}
	return column.DecimalType(size[0], size[1]), p.expectOp(")")
}
