package exec

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
)

// prefilters tell a merger which groups it may leave out, by words of their rows: groups that do
// not pass the filter on groups, and groups that the sorter would drop. This is possible where one
// of them compares count(*) or a sum of one word. Then most groups are never made: not even their
// rows are copied.
type prefilters struct {
	having []cpu.Prefilter
	by     cpu.Prefilter // by the order, but for the bound
	some   bool          // by is set
}

// planPrefilters finds the words by which groups may be left out. None may be where another column
// of a group might fail (STEP-ERRORS).
func (p *producer) planPrefilters() (f prefilters) {
	q := p.r.plan.Query
	if q.Totals >= 0 || len(q.FallibleKeys()) > 0 || q.Having != nil && q.Having.MayFail() {
		return f
	}
	f.having = p.prefilterHaving()
	if p.sorter == nil || !p.sorter.Drops() {
		return f
	}
	for _, out := range q.Out {
		if out.Expr.MayFail() {
			return f
		}
	}
	for col := range p.batch.Cols {
		if p.mayOverflow(col) {
			return f
		}
	}
	if first, plain := q.Order[0].Expr.Column(); plain {
		f.by, _, f.some = p.prefilterBy(first)
	}
	return f
}

// prefilterBy is a prefilter by column c of the batch, without its bound, and the type of the
// column; false: rows have no word that is this column.
func (p *producer) prefilterBy(c int) (cpu.Prefilter, column.Type, bool) {
	call := c - len(p.r.plan.Query.Keys)
	if call < 0 {
		return cpu.Prefilter{}, column.Type{}, false
	}
	r, ok := p.from.cfg.States.ResultWord(call)
	return cpu.Prefilter{Word: r.Word, Shift: r.Shift, Mask: r.Mask}, r.Type, ok
}

// signBit makes the order of integers that of numbers without sign.
const signBit = 1 << 63

// prefilterHaving is the prefilters by the columns of the filter on groups: for each column, the
// range of integers below a bound and the range above another one, of which the filter passes none.
func (p *producer) prefilterHaving() (list []cpu.Prefilter) {
	having := p.r.plan.Query.Having
	if having == nil || slices.ContainsFunc(having.Columns(), p.mayOverflow) {
		return nil
	}
	for _, c := range having.Columns() {
		by, t, ok := p.prefilterBy(c)
		if !ok {
			continue
		}
		if least := leastInt(func(x int64) bool { return !selectsNone(having, c, t, nil, &x) }); least > math.MinInt64 {
			by.Flip, by.Bound, by.Equal = ^uint64(signBit), uint64(least)^^uint64(signBit), true
			list = append(list, by)
		}
		beyond := leastInt(func(x int64) bool { return selectsNone(having, c, t, &x, nil) })
		if beyond > math.MinInt64 && selectsNone(having, c, t, &beyond, nil) {
			by.Flip, by.Bound, by.Equal = signBit, uint64(beyond)^signBit, false
			list = append(list, by)
		}
	}
	return list
}

// selectsNone reports that a filter passes no row whose column c, of type t, is between least and
// most; nil: there is no such end.
func selectsNone(filter *expr.Expr, c int, t column.Type, least, most *int64) bool {
	var of column.Bounds
	end := func(x *int64) (column.Value, bool) {
		switch {
		case x == nil:
			return column.Value{}, false
		case t.Rep() == column.RepWide:
			return column.Value{Type: t, Wide: decimal256.FromI64(*x)}, true
		}
		return column.Value{Type: t, Int: *x}, true
	}
	of.Min, of.HasMin = end(least)
	of.Max, of.HasMax = end(most)
	return filter.CanSkip(func(col int) column.Bounds {
		if col != c {
			return column.Bounds{}
		}
		return of
	})
}

// leastInt is the least integer for which is holds; is holds for all greater ones too. If it holds
// for none, it is the greatest integer.
func leastInt(is func(int64) bool) int64 {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	for lo < hi {
		if mid := lo&hi + (lo^hi)>>1; is(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// set gives the merger the prefilters of now: the sorter's bound changes.
func (f *prefilters) set(p *producer) {
	list := f.having
	if f.some {
		by, ok := f.by, false
		if by.Bound, by.Flip, by.Equal, ok = p.sorter.Bound(); ok {
			list = append(slices.Clip(list), by)
		}
	}
	p.merger.SetPrefilters(list)
}
