package expr

import (
	"strings"
)

// level is how tightly an operator binds; a node is put in parentheses where
// a higher level is wanted than its own.
type level uint8

const (
	levelNone level = iota
	levelOr
	levelAnd
	levelNot
	levelIs      // is null
	levelCompare // = <> < <= > >=; they do not chain
	levelIn      // in, between, like
	levelConcat  // || & | << >> and others
	levelSum     // + -
	levelProduct // * / %
	levelPower   // ** ^
	levelMinus   // unary -
	levelZone    // at time zone
	levelCast    // ::
	levelPrimary
)

type printer struct {
	strings.Builder
}

// operand prints n, in parentheses if it binds less tightly than lv.
func (p *printer) operand(n Node, lv level) {
	if n.level() >= lv {
		n.print(p)
		return
	}
	p.WriteByte('(')
	n.print(p)
	p.WriteByte(')')
}

func (p *printer) list(nodes []Node) {
	for i, n := range nodes {
		if i > 0 {
			p.WriteString(", ")
		}
		n.print(p)
	}
}

func text(n Node) string {
	var p printer
	n.print(&p)
	return p.String()
}

func (n *Column) String() string   { return text(n) }
func (n *Literal) String() string  { return text(n) }
func (n *Call) String() string     { return text(n) }
func (n *Unary) String() string    { return text(n) }
func (n *Binary) String() string   { return text(n) }
func (n *IsNull) String() string   { return text(n) }
func (n *In) String() string       { return text(n) }
func (n *Between) String() string  { return text(n) }
func (n *Like) String() string     { return text(n) }
func (n *Cast) String() string     { return text(n) }
func (n *Case) String() string     { return text(n) }
func (n *List) String() string     { return text(n) }
func (n *Interval) String() string { return text(n) }

func (n *Call) level() level     { return levelPrimary }
func (n *Binary) level() level   { return binaryLevels[n.Op] }
func (n *IsNull) level() level   { return levelIs }
func (n *In) level() level       { return levelIn }
func (n *Between) level() level  { return levelIn }
func (n *Like) level() level     { return levelIn }
func (n *Cast) level() level     { return levelPrimary }
func (n *Case) level() level     { return levelPrimary }
func (n *List) level() level     { return levelPrimary }
func (n *Interval) level() level { return levelPrimary }

func (n *Column) level() level {
	if n.Of != nil {
		return n.Of.level()
	}
	return levelPrimary
}

func (n *Literal) level() level {
	if isNegative(n.Value) {
		return levelMinus
	}
	return levelPrimary
}

func (n *Unary) level() level {
	if n.Op == "not" {
		return levelNot
	}
	return levelMinus
}

func (n *Column) print(p *printer) {
	if n.Of != nil {
		n.Of.print(p)
		return
	}
	if strings.HasPrefix(n.Name, "#") && isAllDigits(n.Name[1:]) {
		p.WriteString(n.Name)
		return
	}
	for _, part := range strings.Split(n.Name, ".") {
		if !plainName(part) {
			p.WriteString(`"` + strings.ReplaceAll(n.Name, `"`, `""`) + `"`)
			return
		}
	}
	// A dotted name whose first part is a keyword in that place is quoted
	// above; the others read back as they are.
	p.WriteString(n.Name)
}

func isAllDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func (n *Literal) print(p *printer) { p.WriteString(formatLiteral(n.Value)) }

func (n *Interval) print(p *printer) { p.WriteString("interval '" + n.Span.String() + "'") }

func (n *Call) print(p *printer) {
	p.WriteString(n.Name + "(")
	if n.Distinct {
		p.WriteString("distinct ")
	}
	if n.Star {
		p.WriteByte('*')
	}
	p.list(n.Args)
	p.order(n.Order)
	p.WriteByte(')')
	if n.Filter != nil {
		p.WriteString(" filter (where ")
		n.Filter.print(p)
		p.WriteByte(')')
	}
}

func (n *Unary) print(p *printer) {
	if n.Op == "not" {
		p.WriteString("not ")
	} else {
		p.WriteString(n.Op)
		if strings.HasPrefix(n.X.String(), "-") {
			p.WriteString(" ") // two of them would begin a comment
		}
	}
	p.operand(n.X, n.level())
}

func (n *Binary) print(p *printer) {
	lv := n.level()
	left := lv
	if lv == levelCompare {
		left++
	}
	p.operand(n.L, left)
	p.WriteString(" " + n.Op + " ")
	p.operand(n.R, lv+1)
}

func (n *IsNull) print(p *printer) {
	p.operand(n.X, levelIs)
	p.WriteString(" is ")
	p.not(n.Not)
	p.WriteString("null")
}

func (p *printer) not(not bool) {
	if not {
		p.WriteString("not ")
	}
}

func (n *In) print(p *printer) {
	p.operand(n.X, levelIn)
	p.WriteByte(' ')
	p.not(n.Not)
	p.WriteString("in (")
	p.list(n.List)
	p.WriteByte(')')
}

func (n *Between) print(p *printer) {
	p.operand(n.X, levelIn)
	p.WriteByte(' ')
	p.not(n.Not)
	p.WriteString("between ")
	p.operand(n.Lo, levelConcat)
	p.WriteString(" and ")
	p.operand(n.Hi, levelConcat)
}

func (n *Like) print(p *printer) {
	p.operand(n.X, levelIn)
	p.WriteByte(' ')
	p.not(n.Not)
	if n.Fold {
		p.WriteByte('i')
	}
	p.WriteString("like ")
	p.operand(n.Pattern, levelConcat)
	if n.Escape != "" {
		p.WriteString(" escape " + formatLiteral(stringValue(n.Escape)))
	}
}

func (n *List) print(p *printer) {
	p.WriteByte('[')
	p.list(n.Items)
	p.WriteByte(']')
}

func (n *Cast) print(p *printer) {
	if n.Try {
		p.WriteString("try_")
	}
	p.WriteString("cast(")
	n.X.print(p)
	p.WriteString(" as " + castName(n.To) + ")")
}

func (n *Case) print(p *printer) {
	p.WriteString("case ")
	if n.Operand != nil {
		n.Operand.print(p)
		p.WriteByte(' ')
	}
	for _, w := range n.Whens {
		p.WriteString("when ")
		w.If.print(p)
		p.WriteString(" then ")
		w.Then.print(p)
		p.WriteByte(' ')
	}
	if n.Else != nil {
		p.WriteString("else ")
		n.Else.print(p)
		p.WriteByte(' ')
	}
	p.WriteString("end")
}
