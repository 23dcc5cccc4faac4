// Package query resolves the texts of a query against the columns of its input. It owns what each
// clause means: which expressions are computed of rows, which of groups, and which aggregates there
// are, each once. The outcome is a pure value; nothing is read, and nothing is planned.
package query

import (
	"strings"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// Compiled is a query resolved against the columns of its input. Nobody changes it.
//
// It has two steps. The scan step computes, from a batch of input columns (Cols), the filter, the
// keys and the arguments of the aggregates. The result step sees a batch of groups whose columns
// are the keys and then the aggregates, and computes from it the having filter, the output columns
// and what to order by.
type Compiled struct {
	Texts Query // as it was asked
	Mode  Mode

	TakeFrom int // the first of Args that is a state (Mode.Takes); the others behind it are too

	Cols []int // columns of the input's schema that are read

	UsesNow  bool       // what is computed depends on Texts.Now
	Where    *expr.Expr // nil: none
	Keys     []*expr.Expr
	KeyTexts []string
	told     []*expr.Expr // by key: see ToldKey; with grouping sets there are none
	Follow   []Following  // keys of the query that Keys tell: they are computed of the groups
	// Groupings tells, by grouping set and key, whether the set has the key. nil: there is one
	// set, of all keys. Else the last of Keys is the number of the set, and Groupings does not
	// cover it.
	Groupings [][]bool
	// the set whose one group is put out last, whatever Having, Order and Limit say; -1: none
	Totals    int
	Args      []*expr.Expr
	ArgTexts  []string
	Calls     []agg.Call
	CallTexts []string
	asked     []askedCall // by call
	// Distinct: arguments of which calls take each different value once: those of part 1 first
	Distinct []int

	Having *expr.Expr // nil: none
	Out    []Output
	Order  []Term
	Limit  int64 // as in Query
	Offset int64
	Pivot  Pivot
}

// Output is a column of the result.
type Output struct {
	Name string
	Expr *expr.Expr
	Type column.Type // that of Expr, and its form
}

// Term is an element of OrderBy.
type Term struct {
	Expr       *expr.Expr
	Output     int // the number of the output column that it is; -1: it is none
	Desc       bool
	NullsFirst bool
}

// Sorted is the first terms of Order that are output columns: the result is sorted by these. It
// is not where a row of totals follows.
func (q *Compiled) Sorted() (terms []Term) {
	if q.Totals >= 0 {
		return nil
	}
	for _, t := range q.Order {
		if t.Output < 0 {
			break
		}
		terms = append(terms, t)
	}
	return terms
}

// NamedKeys is how many keys the user gave: with grouping sets the last one is the number of the
// set.
func (q *Compiled) NamedKeys() int {
	if len(q.Groupings) > 0 {
		return len(q.Keys) - 1
	}
	return len(q.Keys)
}

// ToldKey computes key i of the groups, over batches of the result step, if a time stands for it in
// Keys (KEYS-TOLD); nil: Keys has what was asked for.
func (q *Compiled) ToldKey(i int) *expr.Expr {
	if i < len(q.told) {
		return q.told[i]
	}
	return nil
}

// KeyType is the type of a key as it was asked for.
func (q *Compiled) KeyType(i int) column.Type {
	if told := q.ToldKey(i); told != nil {
		return told.Type()
	}
	return q.Keys[i].Type()
}

// SetTexts is the grouping sets as they are written.
func (q *Compiled) SetTexts() (texts []string) {
	for _, has := range q.Groupings {
		var keys []string
		for k := range has {
			if has[k] {
				keys = append(keys, q.KeyTexts[k])
			}
		}
		texts = append(texts, "("+strings.Join(keys, ", ")+")")
	}
	return texts
}

// ResultExprs is what is computed to order the result, and to see that nothing overflows.
func (q *Compiled) ResultExprs() (all []*expr.Expr) {
	for _, t := range q.Order {
		all = append(all, t.Expr)
	}
	for _, out := range q.Out {
		all = append(all, out.Expr)
	}
	return all
}

// FallibleKeys is what computes keys that follow from others, and may fail.
func (q *Compiled) FallibleKeys() (exprs []*expr.Expr) {
	for _, f := range q.Follow {
		if f.Expr.MayFail() {
			exprs = append(exprs, f.Expr)
		}
	}
	return exprs
}
