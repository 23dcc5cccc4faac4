package expr

import "strings"

// ParseKeys reads a list of group keys: expressions between commas, each with
// an optional `as name`.
func ParseKeys(text string) ([]Item, error) {
	return parseItems(text, (*parser).alias, `"," or "as NAME"`)
}

// ParseSets reads a list of grouping sets: lists of keys in parentheses, () being one without keys.
func ParseSets(text string) ([][]Item, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	var sets [][]Item
	for {
		if !p.acceptOp("(") {
			return nil, p.unexpected("a set of keys in parentheses, such as (a, b) or ()")
		}
		var set []Item
		for !p.acceptOp(")") {
			if len(set) > 0 && !p.acceptOp(",") {
				return nil, p.unexpected(`"," or ")"`)
			}
			item, err := p.item((*parser).alias)
			if err != nil {
				return nil, err
			}
			set = append(set, item)
		}
		if sets = append(sets, set); !p.acceptOp(",") {
			return sets, p.end()
		}
	}
}

// ParseAggs reads a list of aggregates. The grammar is that of keys: which
// calls are aggregates is not decided here.
func ParseAggs(text string) ([]Item, error) {
	return parseItems(text, (*parser).alias, `"," or "as NAME"`)
}

// ParseOrder reads a list of orders: expressions between commas, each with
// an optional asc or desc and nulls first or nulls last. `-x` of a column or
// call is `x desc`, so that strings too can be ordered that way.
func ParseOrder(text string) ([]Item, error) {
	return parseItems(text, (*parser).order, `",", "asc", "desc" or "nulls"`)
}

// parseItems reads a list; suffix reads what may follow an expression, follow
// names it in an error.
func parseItems(text string, suffix func(*parser, *Item) error, follow string) ([]Item, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	var items []Item
	for {
		item, err := p.item(suffix)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if p.acceptOp(",") {
			continue
		}
		if t := p.peek(0); t.kind == tokName || t.kind == tokQuoted {
			return nil, p.unexpected(follow)
		}
		return items, p.end()
	}
}

// item reads an element of a list.
func (p *parser) item(suffix func(*parser, *Item) error) (Item, error) {
	start := p.peek(0).pos
	n, err := p.expr(levelNone)
	if err != nil {
		return Item{}, err
	}
	item := Item{Expr: n, Pos: start, Text: strings.TrimSpace(p.text[start:p.tokens[p.i-1].end])}
	return item, suffix(p, &item)
}

// alias reads [as name].
func (p *parser) alias(item *Item) error {
	if !p.accept("as") {
		return nil
	}
	t := p.peek(0)
	if t.kind != tokName && t.kind != tokQuoted {
		return p.unexpected("a name")
	}
	p.advance()
	item.Alias = t.text
	return nil
}

// order reads [asc|desc] [nulls first|last].
func (p *parser) order(item *Item) error {
	switch {
	case p.accept("asc"):
	case p.accept("desc"):
		item.Desc = true
	default:
		item.minusIsDesc()
	}
	return p.nulls(item)
}

// nulls reads [nulls first|last].
func (p *parser) nulls(item *Item) error {
	if !p.accept("nulls") {
		return nil
	}
	switch {
	case p.accept("first"):
		item.Nulls = NullsFirst
	case p.accept("last"):
		item.Nulls = NullsLast
	default:
		return p.unexpected("\"first\" or \"last\"")
	}
	return nil
}

// minusIsDesc turns `-x` into `x desc`, where x is a column or a call.
func (item *Item) minusIsDesc() {
	minus, ok := item.Expr.(*Unary)
	if !ok || minus.Op != "-" || !strings.HasPrefix(item.Text, "-") {
		return
	}
	switch minus.X.(type) {
	case *Column, *Call:
		text := strings.TrimSpace(item.Text[1:])
		item.Pos += len(item.Text) - len(text)
		item.Expr, item.Text, item.Desc = minus.X, text, true
	}
}
