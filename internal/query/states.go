package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// This file is queries that end with states, and such as begin with them. What is computed of rows
// is done when states are written; what is computed of groups, when they are taken.
//
//	rows ──where, keys, arguments──▶ groups ──▶ states ──▶ groups ──having, outputs, order──▶ result
//
// STATES-CANONICAL: states say of which query they are in a form of their own (Canonical), so that
// texts which mean the same are the same query.
//
// A table of states has a column for each key, for each part of a state, and for each argument of
// which calls take each different value once. A row with one of these values has the states of
// nothing.

// Mode is what a query reads and gives.
type Mode uint8

const (
	Whole       Mode = iota // rows in, a result out
	WriteStates             // rows in, states out
	TakeStates              // states in, a result out
	JoinStates              // states in, states out
)

// Writes reports whether states come out.
func (m Mode) Writes() bool { return m == WriteStates || m == JoinStates }

// Takes reports whether states come in.
func (m Mode) Takes() bool { return m == TakeStates || m == JoinStates }

// checkWrites refuses what is computed of groups.
func (q *Query) checkWrites() error {
	for _, clause := range []struct {
		name string
		is   bool
	}{
		{"having", strings.TrimSpace(q.Having) != ""},
		{"order by", len(q.OrderBy) > 0},
		{"limit", q.Limit != 0},
		{"offset", q.Offset != 0},
		{"pivot", q.Pivot != ""},
	} {
		if clause.is {
			return usagef("%s is of complete groups, and states are not: leave it to who merges them", clause.name)
		}
	}
	return nil
}

// RowSets is how many grouping sets rows are grouped by; 0: one, of all keys. States are groups of
// their sets already.
func (q *Compiled) RowSets() int {
	if q.Mode.Takes() {
		return 0
	}
	return len(q.Groupings)
}

// StateColumn is a column of a table of states.
type StateColumn struct {
	Name string
	Type column.Type
	Role string // "key", "state", "value"
	// State is of which number among the layout's; of a value, which of Distinct.
	Number   int
	Position bool // it holds numbers of rows
	Encoding string
}

// StateColumns is the table of the states of a query: keys, states, values.
func (q *Compiled) StateColumns() (cols []StateColumn) {
	for i, k := range q.Keys {
		cols = append(cols, StateColumn{Name: "key " + q.KeyTexts[i], Type: k.Type(), Role: "key", Number: i, Encoding: "value"})
	}
	states := agg.Compile(q.Calls, 0, agg.Options{States: true, Deterministic: q.Texts.Deterministic}).StateColumns()
	texts := func(args []int) string {
		var all []string
		for _, a := range args {
			all = append(all, q.ArgTexts[a])
		}
		return "(" + strings.Join(all, ", ") + ")"
	}
	for i := range states {
		s := &states[i]
		name := "state " + s.Name
		if len(s.Args) > 0 {
			name += texts(s.Args)
		}
		if s.Over != nil {
			name += " over " + texts(s.Over)
		}
		if s.Part != "" {
			name += " " + s.Part
		}
		cols = append(cols, StateColumn{Name: name, Type: s.Type, Role: "state", Number: i, Position: s.Position, Encoding: s.Encoding})
	}
	for i, arg := range q.Distinct {
		cols = append(cols, StateColumn{Name: "value " + q.ArgTexts[arg], Type: q.Args[arg].Type(), Role: "value", Number: i, Encoding: "value"})
	}
	return cols
}

// FromStates makes a query that reads states, of the columns that in has, of one that was compiled
// for the columns of rows. The error is a *UsageError if there is a column that in lacks.
func (q *Compiled) FromStates(in Columns) (*Compiled, error) {
	out := *q
	out.Where, out.Cols, out.Texts.Sample = nil, nil, Sample{}
	out.Keys = nil
	out.Args = make([]*expr.Expr, len(q.Args))
	out.ArgTexts = slices.Clone(q.ArgTexts)
	out.TakeFrom = len(q.Args)
	for _, c := range q.StateColumns() {
		e, err := out.stateColumn(in, c)
		if err != nil {
			return nil, err
		}
		switch c.Role {
		case "key":
			out.Keys = append(out.Keys, e)
		case "state":
			out.Args, out.ArgTexts = append(out.Args, e), append(out.ArgTexts, c.Name)
		default:
			out.Args[q.Distinct[c.Number]] = e
		}
	}
	return &out, nil
}

// stateColumn reads a column of a table of states.
func (q *Compiled) stateColumn(in Columns, c StateColumn) (*expr.Expr, error) {
	i, err := in.Find(c.Name)
	if err != nil {
		return nil, usagef("the states have no column %q", c.Name)
	}
	if got := in.Schema().Fields[i].Type; got != inArrow(c.Type) {
		return nil, usagef("the states have %s in %q, where %s is wanted", got, c.Name, c.Type)
	}
	batch := len(q.Cols)
	q.Cols = append(q.Cols, i)
	return columnAt(c.Name, batch, c.Type)
}

// inArrow is a type as it comes back from Arrow: a time of day has lost its mark of UTC.
func inArrow(t column.Type) column.Type {
	if t.Kind == column.Time {
		t.UTC = false
	}
	return t
}

// Canonical is the part of q that states depend on, in a form of its own, and the columns of the
// input that it names.
func Canonical(in Columns, q Query) (Query, []column.Field, error) {
	// now() is its time, and a parameter its value
	c := &canonical{compiler: compiler{in: in, q: q}}
	out := Query{Totals: q.Totals, Sample: q.Sample, Deterministic: q.Deterministic}
	var err error
	if c.params, err = q.params(); err != nil {
		return out, nil, err
	}
	for i, list := range q.By {
		if out.By, err = c.items(out.By, list, "", "by", i, expr.ParseKeys); err != nil {
			return out, nil, err
		}
	}
	for i, a := range q.Aggs {
		texts, err := c.items(nil, a.Text, a.Alias, "aggs", i, expr.ParseAggs)
		if err != nil {
			return out, nil, err
		}
		for _, text := range texts {
			out.Aggs = append(out.Aggs, Agg{Text: text})
		}
	}
	if strings.TrimSpace(q.Where) != "" {
		n, err := expr.Parse(q.Where)
		if err != nil {
			return out, nil, err
		}
		out.Where = c.text(c.constants(n, "where", 0))
	}
	if out.Sets, err = c.sets(); err != nil {
		return out, nil, err
	}
	return out, c.fields, nil
}

// canonical writes the texts of a query in one form.
type canonical struct {
	compiler
	fields []column.Field
}

// items appends the elements of a list, which is of that number in a clause, each with its name.
func (c *canonical) items(to []string, list, alias, clause string, number int, parse func(string) ([]expr.Item, error)) ([]string, error) {
	items, err := parse(list)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if alias != "" {
			it.Alias = alias
		}
		to = append(to, c.text(c.constants(it.Expr, clause, number))+` as "`+strings.ReplaceAll(c.nameOf(it), `"`, `""`)+`"`)
	}
	return to, nil
}

// sets is the grouping sets.
func (c *canonical) sets() (string, error) {
	listed, err := c.listedSets()
	if err != nil || listed == nil {
		return strings.ToLower(strings.TrimSpace(c.q.Sets)), err
	}
	var all []string
	for _, set := range listed {
		var keys []string
		for _, it := range set {
			keys = append(keys, c.text(it.Expr))
		}
		all = append(all, "("+strings.Join(keys, ", ")+")")
	}
	return strings.Join(all, ", "), nil
}

// text is a node with the columns of the input by their names.
func (c *canonical) text(n expr.Node) string {
	return expr.Rewrite(n, func(n expr.Node) (expr.Node, bool) {
		col, ok := n.(*expr.Column)
		if !ok {
			return n, false
		}
		i, err := c.in.Find(col.Name)
		if err != nil {
			return n, true // the name of a key
		}
		f := c.in.Schema().Fields[i]
		if k, err := c.in.Find(f.Name); err != nil || k != i {
			f.Name = col.Name // others have that name
		}
		if !slices.Contains(c.fields, f) {
			c.fields = append(c.fields, f)
		}
		return &expr.Column{At: col.At, Name: f.Name}, true
	}).String()
}

// Fields is columns of which nothing is known but their names and types.
type Fields []column.Field

// Schema is the columns.
func (f Fields) Schema() column.Schema { return column.Schema{Fields: f} }

// Find looks a column up: by its name, or one without regard to case if it is the only one.
func (f Fields) Find(name string) (int, error) {
	found := -1
	for i := range f {
		switch {
		case f[i].Name == name:
			return i, nil
		case strings.EqualFold(f[i].Name, name) && found >= 0:
			return 0, usagef("column %q is ambiguous: it could be %q or %q", name, f[found].Name, f[i].Name)
		case strings.EqualFold(f[i].Name, name):
			found = i
		}
	}
	if found < 0 {
		return 0, usagef("column %q is none that the states know: they were made without it", name)
	}
	return found, nil
}

// Same compares canonical queries. The error says in what they differ: was is the one that q is
// compared with.
func (q Query) Same(was Query) error {
	texts := func(aggs []Agg) (all []string) {
		for _, a := range aggs {
			all = append(all, a.Text)
		}
		return all
	}
	for _, c := range []struct{ name, is, was string }{
		{"keys", strings.Join(q.By, ", "), strings.Join(was.By, ", ")},
		{"grouping sets", q.Sets, was.Sets},
		{"totals", fmt.Sprint(q.Totals), fmt.Sprint(was.Totals)},
		{"aggregates", strings.Join(texts(q.Aggs), ", "), strings.Join(texts(was.Aggs), ", ")},
		{"filter", q.Where, was.Where},
		{"sample", q.Sample.String(), was.Sample.String()},
	} {
		if c.is != c.was {
			return usagef("the %s are %s, not %s", c.name, orNone(c.is), orNone(c.was))
		}
	}
	if q.Deterministic != was.Deterministic {
		return usagef("only some were made with --deterministic")
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
