package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// expr is an expression in both languages: gagg's, and the SQL that makes DuckDB compute what
// docs/semantics.md says. In a text, $0 and $1 stand for the operands.
type expr struct {
	kind  kind
	gagg  string
	duck  string
	kids  []*expr
	fixed bool // a constant

	lo, hi  float64 // of numbers: the value is between them
	digits  int     // of a decimal
	scale   int
	perUnit int  // of a time: see known
	special bool // may be NaN or an infinity
}

func (e *expr) inGagg() string { return e.render(func(e *expr) string { return e.gagg }) }

func (e *expr) inDuck() string { return e.render(func(e *expr) string { return e.duck }) }

func (e *expr) render(form func(*expr) string) string {
	out := form(e)
	if len(e.kids) == 0 {
		return out
	}
	var pairs []string
	for i, kid := range e.kids {
		pairs = append(pairs, "$"+strconv.Itoa(i), kid.render(form))
	}
	return strings.NewReplacer(pairs...).Replace(out)
}

// smaller is simpler expressions of e's kind, for the minimiser: its operands, and e with one of
// its operands made smaller.
func (e *expr) smaller() (out []*expr) {
	for _, kid := range e.kids {
		if kid.kind == e.kind {
			out = append(out, kid)
		}
	}
	for i, kid := range e.kids {
		for _, s := range kid.smaller() {
			c := *e
			c.kids = append([]*expr{}, e.kids...)
			c.kids[i] = s
			out = append(out, &c)
		}
	}
	return out
}

// generator draws expressions over the columns of a table, or over what it is given as leaves.
type generator struct {
	rng    *rand.Rand
	table  *table
	leaves []*expr
	device bool // what devices compute, as a rule
	lists  bool // also aggregates for which they keep all values
}

func newGenerator(rng *rand.Rand, t *table) *generator {
	g := &generator{rng: rng, table: t}
	for i := range t.cols {
		g.leaves = append(g.leaves, columnOf(&t.cols[i]))
	}
	return g
}

func columnOf(c *known) *expr {
	return &expr{
		kind: c.kind, gagg: c.sql(), duck: c.sql(), lo: c.lo, hi: c.hi, digits: c.digits, scale: c.scale, perUnit: c.perUnit, special: c.special,
	}
}

// tries is how often something is drawn until it fits the operands at hand.
const tries = 20

// expr draws an expression of a kind, nil if there is none.
func (g *generator) expr(k kind, depth int) *expr {
	for range tries {
		if depth == 0 {
			return g.leaf(k)
		}
		if g.rng.IntN(3) == 0 {
			if e := g.column(string(k)); e != nil {
				return e
			}
		}
		o := &operators[g.rng.IntN(len(operators))]
		if o.gives != k && o.gives != anything {
			continue
		}
		if e := g.apply(o, k, depth-1); e != nil {
			return e
		}
	}
	return g.leaf(k)
}

// any draws an expression of one of the kinds.
func (g *generator) any(kinds string, depth int) *expr {
	for range tries {
		if e := g.expr(kind(kinds[g.rng.IntN(len(kinds))]), depth); e != nil {
			return e
		}
	}
	return nil
}

// leaf is a column, or at times a constant.
func (g *generator) leaf(k kind) *expr {
	if g.rng.IntN(4) > 0 {
		if e := g.column(string(k)); e != nil {
			return e
		}
	}
	return g.constant(k)
}

// column is a column of one of the kinds, nil if there is none.
func (g *generator) column(kinds string) *expr {
	var fit []*expr
	for _, e := range g.leaves {
		if e.kind.in(kinds) {
			fit = append(fit, e)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[g.rng.IntN(len(fit))]
}

// apply gives an operator operands; k is what anything stands for where that is its result.
func (g *generator) apply(o *operator, k kind, depth int) *expr {
	if o.gives != anything {
		k = kind(everyKind[g.rng.IntN(len(everyKind))])
	}
	e := &expr{kind: o.gives, gagg: o.gagg, duck: o.duck}
	if o.gives == anything {
		e.kind = k
	}
	if e.duck == "" {
		e.duck = e.gagg
	}
	for i, takes := range o.takes {
		if kind(takes) == anything {
			takes = rune(k)
		}
		kid := g.expr(kind(takes), depth)
		if kid == nil || i == 0 && kid.fixed { // a constant first tells little
			return nil
		}
		e.kids = append(e.kids, kid)
	}
	e.span()
	if o.bound != nil && !o.bound(e) {
		return nil
	}
	if o.draw != nil && !o.draw(g, e) {
		return nil
	}
	return e
}

// span gives e the range of all its operands of its kind. It is for an e that returns one of
// them.
func (e *expr) span() {
	first := true
	for _, kid := range e.kids {
		if kid.kind != e.kind {
			continue
		}
		if first {
			e.lo, e.hi = kid.lo, kid.hi
		}
		first = false
		e.lo, e.hi = min(e.lo, kid.lo), max(e.hi, kid.hi)
		e.digits, e.scale, e.special = max(e.digits, kid.digits), max(e.scale, kid.scale), e.special || kid.special
		e.perUnit = max(e.perUnit, kid.perUnit)
	}
}

// constant is a literal, of a value that some column has as a rule; nil for kinds without literals.
func (g *generator) constant(k kind) *expr {
	if !k.in("biudfDtaTs") {
		return nil
	}
	sample := g.sample(k)
	e := &expr{kind: k, fixed: true, perUnit: 6}
	switch k {
	case boolean:
		e.gagg = pick(g.rng, "true", "false")
	case integer, unsigned:
		n, err := strconv.ParseInt(sample, 10, 64)
		if err != nil || n < -1<<62 || k == unsigned && n < 0 {
			n = int64(g.rng.IntN(10))
		}
		e.lo, e.hi, e.gagg = float64(n), float64(n), signed(strconv.FormatInt(n, 10))
		if k == unsigned { // a literal is an int64, and both together decimals
			e.gagg = "cast(" + e.gagg + " as ubigint)"
		}
	case decimals:
		if sample == "" || !strings.Contains(sample, ".") {
			sample = pick(g.rng, "0.5", "1.25", "10.0", "-3.75")
		}
		v, _ := strconv.ParseFloat(sample, 64)
		e.lo, e.hi, e.gagg = v, v, signed(sample)
		e.digits, e.scale = len(strings.TrimLeft(sample, "-0."))+1, len(sample)-strings.Index(sample, ".")-1
		e.digits = max(e.digits, e.scale+1)
	case single, double:
		v, err := strconv.ParseFloat(sample, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v != 0 && math.Abs(v) < 1e-300 {
			v = float64(g.rng.IntN(100)) / 8
		}
		e.lo, e.hi, e.gagg = v, v, signed(strconv.FormatFloat(v, 'e', -1, 64))
		if k == single {
			e.gagg = "cast(" + e.gagg + " as float)"
		}
	case text:
		if strings.ContainsRune(sample, 0) || len(sample) > 100 {
			sample = pick(g.rng, "", "a", "b=", "é")
		}
		e.gagg = quote(sample)
	default:
		if sample == "" || strings.Contains(sample, "BC") || strings.Contains(sample, "(") {
			sample = map[kind]string{date: "2024-02-29", clock: "12:34:56.5", instant: "2023-11-14 22:13:20.001"}[k]
		}
		e.gagg = map[kind]string{date: "date ", clock: "time ", instant: "timestamp "}[k] + quote(sample)
	}
	e.duck = e.gagg
	return e
}

// sample is a value of a column of the kind, "" if there is none.
func (g *generator) sample(k kind) string {
	for range tries {
		if len(g.table.cols) == 0 {
			break
		}
		if c := g.table.cols[g.rng.IntN(len(g.table.cols))]; c.kind == k && len(c.samples) > 0 {
			return c.samples[g.rng.IntN(len(c.samples))]
		}
	}
	return ""
}

func signed(number string) string {
	if strings.HasPrefix(number, "-") {
		return "(" + number + ")"
	}
	return number
}

func (e *expr) String() string { return fmt.Sprintf("%s | %s", e.inGagg(), e.inDuck()) }
