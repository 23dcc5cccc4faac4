package plan

import (
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// This file decides, from schemas alone, whether devices can make the rows of a query themselves,
// of the encoded columns of the file. What only footers and pages tell (long strings, other
// encodings) is left to the run: the CPU then reads the row group.

// encodedPlan says how devices make rows [hash | key words | state words] of the encoded columns of
// the scan. states is the layout that devices get. If workers have to make the rows, plan is nil
// and why says what it is that needs them, for people.
func (p *planner) encodedPlan(states *agg.Layout) (plan *decode.Plan, why string) {
	if p.Query.Where != nil {
		return nil, "they are filtered"
	}
	row, why := states.DeviceRow()
	if why != "" {
		return nil, why
	}
	b := encodedBuilder{planner: p, plan: &decode.Plan{HashWords: 1, KeyWords: p.Layout.Words}, values: map[int]int{}}
	if why := b.keys(); why != "" {
		return nil, why
	}
	if why := b.arguments(row); why != "" {
		return nil, why
	}
	b.place()
	b.states(row.Words)
	b.nulls(row)
	return b.plan, ""
}

// encodedBuilder is the plan of a query in the making: outputs, then their arrays, then what refers
// to these.
type encodedBuilder struct {
	*planner
	plan   *decode.Plan
	values map[int]int // column of the scan -> the output that is its value
}

// keys adds the outputs of the key fields.
func (b *encodedBuilder) keys() (why string) {
	for i, f := range b.Layout.Fields() {
		c, ok := b.Query.Keys[i].Column()
		if !ok {
			return fmt.Sprintf("the key %s is computed", b.Query.KeyTexts[i])
		}
		o, why := b.output(c)
		switch {
		case why != "":
			return why
		case f.Form == key.FormInline && f.Words > inlineWords:
			return fmt.Sprintf("most texts of the key %s have more than %d bytes", b.Query.KeyTexts[i], key.MaxInline)
		}
		o.Field, o.Form, o.Words = i, encodedForm(f), uint8(f.Words)
		o.Shift, o.Bits = uint8(f.Shift), uint8(f.Bits)
		b.plan.Outputs = append(b.plan.Outputs, o)
	}
	return ""
}

// inlineWords is how many words kernels.ParquetInline has.
const inlineWords = 2

// encodedForm is how kernels hold a field. The numbers of interned strings have the form of bits:
// kernels only look them up, among those of a dictionary's entries.
func encodedForm(f key.Field) uint8 {
	if f.Form == key.FormInline {
		return kernels.ParquetInline
	}
	return kernels.ParquetBits
}

// arguments adds the outputs that state words are made of, and those that are only looked through
// for NULLs.
func (b *encodedBuilder) arguments(row agg.OneRow) (why string) {
	for i, e := range b.Query.Args {
		used := slices.ContainsFunc(row.Words, func(w agg.RowWord) bool { return w.Uses(i) })
		c, plain := e.Column()
		if v, constant := e.Const(); constant && !v.Null && !used {
			continue // count(1)
		}
		if !plain {
			return fmt.Sprintf("the argument of %s is computed", b.callOf(i))
		}
		if !used && b.outputOf(c) >= 0 {
			continue
		}
		if why := b.value(c); why != "" {
			return why
		}
	}
	return ""
}

// callOf is an aggregate that argument i belongs to.
func (b *encodedBuilder) callOf(i int) string {
	return b.Query.CallTexts[slices.IndexFunc(b.Query.Calls, func(c agg.Call) bool { return slices.Contains(c.Args, i) })]
}

// outputOf is an output of column c of the scan; -1: there is none.
func (b *encodedBuilder) outputOf(c int) int {
	return slices.IndexFunc(b.plan.Outputs, func(o decode.Output) bool { return o.Source == c })
}

// value adds the output that is the value of column c of the scan, once.
func (b *encodedBuilder) value(c int) (why string) {
	if _, there := b.values[c]; there {
		return ""
	}
	o, why := b.output(c)
	if why != "" {
		return why
	}
	if o.Physical == kernels.ParquetBytes {
		return fmt.Sprintf("devices take strings as keys alone, and column %s is none", b.columnName(c))
	}
	o.Field, o.Form, o.Words = -1, kernels.ParquetValue, 1
	b.values[c] = len(b.plan.Outputs)
	b.plan.Outputs = append(b.plan.Outputs, o)
	return ""
}

// output is a use of column c of the scan, without its form.
func (b *encodedBuilder) output(c int) (o decode.Output, why string) {
	t, ok := b.scan.Encoded(c)
	if !ok {
		return o, fmt.Sprintf("devices do not decode column %s as it is stored", b.columnName(c))
	}
	o.Source, o.Physical, o.Nulls = c, physicals[t.Physical], 1
	o.Lo, o.Hi, o.Factor = t.Lo, t.Hi, t.Factor
	if t.Mask32 {
		o.Mask32 = 1
	}
	return o, ""
}

// physicals is the kernels' numbers of physical types.
var physicals = map[parquetio.Physical]uint8{
	parquetio.Int32: kernels.ParquetInt32, parquetio.Int64: kernels.ParquetInt64,
	parquetio.Float: kernels.ParquetFloat, parquetio.Double: kernels.ParquetDouble,
	parquetio.ByteArray: kernels.ParquetBytes,
}

// columnName is the name of column c of the scan.
func (b *encodedBuilder) columnName(c int) string { return b.Columns[c] }

// place gives the outputs their arrays, and the fields what is theirs.
func (b *encodedBuilder) place() {
	fields := b.Layout.Fields()
	words := make([]int, len(fields))
	for i, f := range fields {
		words[i] = f.Word
	}
	if err := b.plan.Place(words); err != nil {
		panic(err) // keys has added one output for each field
	}
	for i, f := range fields {
		b.plan.Fields[i].NullWord, b.plan.Fields[i].NullBit = uint32(f.NullWord), f.NullBit
	}
}

// states says what the state words are made of.
func (b *encodedBuilder) states(words []agg.RowWord) {
	for _, w := range words {
		if w.From == agg.FromConstant {
			b.plan.States = append(b.plan.States, kernels.ParquetState{Constant: w.Constant})
			continue
		}
		o := b.valueOf(w.Arg)
		s := kernels.ParquetState{
			Null: w.Constant, Place: uint32(o), Array: b.plan.Outputs[o].Array, Word: stateWords[w.From], Number: b.numberOf(w.Arg),
		}
		if w.From.Times() {
			s.Constant, s.Times = uint64(b.plan.Outputs[b.valueOf(w.Times)].Array), b.numberOf(w.Times)
		}
		if f := w.Fixed; w.From == agg.FromFixed {
			s.Constant = kernels.ParquetFixedWord(int32(f.Base), uint16(f.Beyond), uint16(f.Word))
		}
		b.plan.States = append(b.plan.States, s)
	}
}

// stateWords is the kernels' numbers of where words come from.
var stateWords = [...]uint32{
	agg.FromValue: kernels.ParquetCopy, agg.FromSum: kernels.ParquetSum, agg.FromProduct: kernels.ParquetProduct,
	agg.FromNot: kernels.ParquetNot, agg.FromOrder: kernels.ParquetOrder, agg.FromOrderNot: kernels.ParquetOrderNot,
	agg.FromProductS: kernels.ParquetProductS, agg.FromProductC: kernels.ParquetProductC,
	agg.FromThirdPowerS: kernels.ParquetThirdPowerS, agg.FromThirdPowerC: kernels.ParquetThirdPowerC,
	agg.FromFourthPowerS: kernels.ParquetFourthPowerS, agg.FromFourthPowerC: kernels.ParquetFourthPowerC, agg.FromFixed: kernels.ParquetFixed,
}

// valueOf is the output that is the value of argument i.
func (b *encodedBuilder) valueOf(i int) int {
	c, _ := b.Query.Args[i].Column()
	return b.values[c]
}

// numberOf is how kernels read the words of argument i as doubles.
func (b *encodedBuilder) numberOf(i int) uint8 {
	switch t := b.Query.Args[i].Type(); {
	case t.IsFloat():
		return kernels.ParquetIsDouble
	case t.Kind == column.Uint64:
		return kernels.ParquetIsUnsigned
	default:
		return kernels.ParquetIsDecimal + t.Scale
	}
}

// nulls says what NULLs add to the state words, and of which values there may be none.
func (b *encodedBuilder) nulls(row agg.OneRow) {
	for _, n := range row.Nulls {
		if c, plain := b.Query.Args[n.Arg].Column(); plain { // else it is a constant
			b.plan.Nulls = append(b.plan.Nulls, kernels.ParquetNull{Add: n.Add, Place: uint32(b.outputOf(c)), State: uint32(n.Word)})
		}
	}
	for _, arg := range row.Whole {
		b.plan.Outputs[b.valueOf(arg)].Nulls = 0
	}
}
