package plan

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file plans which groups leave a device: those that pass the filter on groups and, of an
// order with a limit, may be among the first by its first term. The filter, and that term, become a
// program over words of a group's row. Of a limit without an order the first groups in order of
// hash leave (RESULT-ORDER).
//
// SELECT-MORE: groups that are not wanted may leave; the host filters and orders what has left. No
// group that is wanted stays.

// selection says which groups leave a device that has all of them, and the same for people; nil:
// all do, and why, unless all are wanted. A group of which something may fail is wanted: it fails
// on the host, as without a device (STEP-ERRORS in package exec).
func (p *planner) selection(states *agg.Layout) (*gpu.Selection, string) {
	q := p.Query
	best := q.Limit > 0
	if q.Having == nil && !best {
		return nil, ""
	}
	if len(states.DeviceLists()) > 0 {
		return nil, "lists are read with all groups"
	}
	if q.Having == nil && len(q.Order) == 0 { // no group beyond the limit is finished anywhere
		s := &gpu.Selection{Hashes: true, Best: uint64(q.Limit) + uint64(max(q.Offset, 0))}
		countRows(s, states)
		return s, firstText(s.Best)
	}
	if q.Totals >= 0 || len(q.FallibleKeys()) > 0 {
		return nil, "all groups are looked at"
	}
	terms, stored := p.rankTerms(best)
	program, why := expr.NewProgram(q.Having, terms, kernels.ParquetRegisters, true)
	if why != "" {
		return nil, "GPUs do not compute the filter on groups, the first term of the order, or a column that may fail"
	}
	s := &gpu.Selection{Registers: program.Registers}
	countRows(s, states)
	inputs := make([]int, len(program.Inputs))
	for i, in := range program.Inputs {
		v, ok := p.valueOf(states, in)
		if !ok {
			return nil, fmt.Sprintf("GPUs do not compute %s of groups", p.columnText(in.Column))
		}
		inputs[i], s.Values = i, append(s.Values, v)
	}
	s.Steps = kernelSteps(program, inputs, stored)
	var says []string
	if q.Having != nil {
		says = append(says, "those that pass the filter on groups")
	}
	if best {
		if why := p.check(s, states); why != "" {
			return nil, why
		}
		s.Best = uint64(q.Limit) + uint64(max(q.Offset, 0))
	}
	switch {
	case best && len(q.Order) == 0:
		s.Hashes = true
		says = append(says, firstText(s.Best))
	case best:
		first := q.Order[0]
		s.Rank, s.Descending, s.NullsFirst = rankOf(first.Expr.Type()), first.Desc, first.NullsFirst
		s.ByHash = len(q.Order) == 1 // RESULT-ORDER
		says = append(says, fmt.Sprintf("the first %d by the first term of the order", s.Best))
	}
	return s, strings.Join(says, ", of these ")
}

// countRows says where a group has the number of its rows.
func countRows(s *gpu.Selection, states *agg.Layout) {
	count := states.DeviceCount()
	s.Count.Word, s.Count.Shift, s.Count.Mask = count.Word, count.Shift, count.Mask
}

// firstText says of a limit without an order which groups are wanted.
func firstText(best uint64) string { return fmt.Sprintf("the first %d in order of hash", best) }

// rankTerms is what the program of a selection computes beside the filter on groups, and the number
// under which it stores each: the first term of the order, which ranks groups, and, where groups
// are left out that the host would finish, the columns of the result that may fail.
func (p *planner) rankTerms(best bool) (terms []*expr.Expr, stored []int) {
	if !best {
		return nil, nil
	}
	for i, e := range p.Query.ResultExprs() {
		switch {
		case i == 0 && len(p.Query.Order) > 0:
			terms, stored = append(terms, e), append(stored, kernels.EgaRankWord)
		case e.MayFail():
			terms, stored = append(terms, e), append(stored, kernels.EgaSureWord)
		}
	}
	return terms, stored
}

// check adds steps to a selection that look at the aggregates that may overflow: of a group that is
// left out none does (STEP-ERRORS).
func (p *planner) check(s *gpu.Selection, states *agg.Layout) (why string) {
	for i := range p.Query.Calls {
		if !states.MayOverflow(i) {
			continue
		}
		r, ok := states.DeviceResult(i)
		if !ok {
			return p.Query.CallTexts[i] + " may overflow in any group"
		}
		s.Steps = append(s.Steps,
			kernels.ParquetStep{Code: kernels.ParquetLoad, Constant: uint64(len(s.Values))},
			kernels.ParquetStep{Code: kernels.ParquetStore, Constant: kernels.EgaSureWord})
		s.Values, s.Registers = append(s.Values, resultValue(r)), max(s.Registers, 1)
	}
	return ""
}

// columnText is the text of column c of the groups: the keys, then the aggregates.
func (p *planner) columnText(c int) string {
	return slices.Concat(p.Query.KeyTexts, p.Query.CallTexts)[c]
}

// rankOf is how words of a type are put in order.
func rankOf(t column.Type) kernels.EgaRankKind {
	switch {
	case t.IsFloat():
		return kernels.EgaRankDouble
	case t.Kind == column.Uint64:
		return kernels.EgaRankUnsigned
	}
	return kernels.EgaRankSigned
}

// valueOf says how an input of the program follows from a group's row; false: it does not.
func (p *planner) valueOf(states *agg.Layout, in expr.Input) (kernels.EgaValue, bool) {
	switch nkeys := len(p.Query.Keys); {
	case in.Of != nil || in.Length:
		return kernels.EgaValue{}, false
	case in.Column < nkeys:
		return p.keyValue(in.Column)
	default:
		r, ok := states.DeviceResult(in.Column - nkeys)
		return resultValue(r), ok
	}
}

// keyValue is the value of a key that lies in a word.
func (p *planner) keyValue(k int) (v kernels.EgaValue, ok bool) {
	f, t := p.Layout.Fields()[k], p.Query.Keys[k].Type()
	if f.Form != key.FormBits || t.IsFloat() && f.Bits < 64 {
		return v, false
	}
	base := uint32(p.Layout.Base())
	v = kernels.EgaValue{Word: base + uint32(f.Word), Shift: uint8(f.Shift), Bits: uint8(f.Bits), Mask: math.MaxUint64 >> (64 - f.Bits)}
	switch {
	case t.IsFloat():
		v.Kind = kernels.EgaValueDouble
	case t.IsSigned() || t.Kind == column.Date:
		v.Kind = kernels.EgaValueSigned
	}
	v.Presence = kernels.EgaPresence{Least: 1}
	if f.NullBit != 0 {
		v.Presence.NullsWord, v.Presence.NullsShift, v.Presence.NullsMask = base+uint32(f.NullWord), uint8(bits.TrailingZeros64(f.NullBit)), 1
	}
	return v, true
}

// resultKinds is the kernels' numbers of what results are made of.
var resultKinds = [...]uint8{
	agg.ResultBits: kernels.EgaValueBits, agg.ResultRows: kernels.EgaValueRows, agg.ResultSum: kernels.EgaValueSum,
	agg.ResultWide: kernels.EgaValueWide, agg.ResultPositive: kernels.EgaValuePositive,
	agg.ResultDouble: kernels.EgaValueDouble, agg.ResultDoubles: kernels.EgaValueDoubles,
}

// resultValue is the result of an aggregate.
func resultValue(r agg.DeviceResult) kernels.EgaValue {
	return kernels.EgaValue{
		Presence: kernels.EgaPresence{
			Least:    r.Rows.Least,
			RowsWord: uint32(r.Rows.Rows.Word), RowsShift: r.Rows.Rows.Shift, RowsMask: r.Rows.Rows.Mask,
			NullsWord: uint32(r.Rows.Nulls.Word), NullsShift: r.Rows.Nulls.Shift, NullsMask: r.Rows.Nulls.Mask,
		},
		Word: uint32(r.Word), High: uint32(r.High), More: uint32(r.More), Mask: r.Mask, Flip: r.Flip, Point: r.Point, Kind: resultKinds[r.From],
	}
}
