package query

import (
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/internal/expr"
)

// params is the values of the parameters of a query's texts. Those of ? are counted through all
// texts in the order in which SQL writes them: By, Aggs, Where, Having, OrderBy.
type params struct {
	values []expr.Node
	// base is how many ? stand before a text, by clause and, where it has several, element.
	base map[place]int
}

// place is a text of a query.
type place struct {
	clause string
	i      int
}

// params reads the values, and counts the parameters.
func (q *Query) params() (*params, error) {
	p := &params{base: map[place]int{}}
	for i, v := range q.Params {
		n, err := expr.ValueNode(v)
		if err != nil {
			return nil, usagef("parameter %d: %v", i+1, err)
		}
		p.values = append(p.values, n)
	}
	total, used := 0, make([]bool, len(p.values))
	first := 0 // of the $n that there is no value for
	numbered := false
	count := func(clause string, texts ...string) {
		for i, text := range texts {
			asked, numbers := expr.Params(text)
			p.base[place{clause, i}] = total
			total += asked
			for _, n := range numbers {
				if numbered = true; n <= len(used) {
					used[n-1] = true
				} else if first == 0 {
					first = n
				}
			}
		}
	}
	var aggs []string
	for _, a := range q.Aggs {
		aggs = append(aggs, a.Text)
	}
	count("by", q.By...)
	count("aggs", aggs...)
	count("where", q.Where)
	count("having", q.Having)
	count("order", q.OrderBy...)
	switch unused := slices.Index(used, false); {
	case numbered && total > 0:
		return nil, usagef("parameters are numbered ($1) or not (?): a query cannot have both")
	case first > 0:
		return nil, usagef("there is no value for the parameter $%d: %s", first, given(len(used)))
	case numbered && unused >= 0:
		return nil, usagef("the value of the parameter $%d is used nowhere", unused+1)
	case !numbered && total != len(used):
		return nil, usagef("the query has %s (?), and %s", plural(total, "parameter"), given(len(used)))
	}
	return p, nil
}

func given(n int) string {
	if n == 1 {
		return "1 value is given"
	}
	return fmt.Sprintf("%d values are given", n)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// fill puts values in the place of the parameters of a text.
func (p *params) fill(n expr.Node, clause string, i int) expr.Node {
	if len(p.values) == 0 {
		return n
	}
	return expr.Fill(n, p.base[place{clause, i}], p.values)
}
