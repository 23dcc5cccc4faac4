package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/expr"
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
	row, why := states.DeviceRow()
	if why != "" {
		return nil, why
	}
	b := encodedBuilder{planner: p, layout: p.DeviceKeys(), stateWords: len(row.Words), values: map[int]int{}, texts: map[int]int{}}
	b.plan = &decode.Plan{HashWords: 1, KeyWords: b.layout.Words}
	_, b.plan.Limited = p.HashLimit()
	if why := b.keys(); why != "" {
		return nil, why
	}
	if why := b.arguments(row); why != "" {
		return nil, why
	}
	if why := b.program(); why != "" {
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
	layout *key.Layout // of the keys
	// words of the states of a row
	stateWords int
	plan       *decode.Plan
	values     map[int]int // column of the scan -> the output that is its value
	texts      map[int]int // column of the scan -> the output that is the refs of its texts
	args       []int       // argument -> the output that it is; noOutput: it is not needed

	computed []*expr.Expr // the expressions whose values the program stores, and
	stored   []int        // the outputs that these are
}

const noOutput = -1

// keys adds the outputs of the key fields.
func (b *encodedBuilder) keys() (why string) {
	exprs := b.DeviceExprs()
	for i, f := range b.layout.Fields() {
		part, cut := b.cutOf(exprs[i])
		o, why := b.key(exprs[i], b.deviceText(i))
		if why != "" {
			return why
		}
		o.Field, o.Form, o.Words = i, encodedForm(f, &o), uint8(f.Words)
		o.Shift, o.Bits = uint8(f.Shift), uint8(f.Bits)
		if f.Form == key.FormWide { // of a decimal that 64 bits hold
			o.Bits = 64
		}
		if f.Form == key.FormInline && b.textsOnDevice(&o) {
			o.Form, o.Texts = kernels.ParquetInline, 1
		}
		if cut && o.Texts == 0 {
			return fmt.Sprintf("memory is limited, and devices may not have room for all rows, with the texts of %s", b.deviceText(i))
		}
		b.plan.Outputs = append(b.plan.Outputs, o)
		if cut {
			b.plan.SetCut(len(b.plan.Outputs)-1, part)
		}
	}
	return ""
}

// key is the output of a key, without its form: a column, what is computed of the entries of one,
// what the program makes, or the column whose texts it is parts of.
func (b *encodedBuilder) key(e *expr.Expr, text string) (o decode.Output, why string) {
	if c, ok := e.Column(); ok {
		return b.output(c)
	}
	if in, cut := b.cutOf(e); cut {
		return b.output(in.Column)
	}
	if e.OnWords() {
		return b.compute(e), ""
	}
	if in, ok := e.OfEntries(); ok {
		return b.entries(in)
	}
	return o, fmt.Sprintf("GPUs do not compute the key %s", text)
}

// compute is an output that the program makes, without its form. It is the next one to be added.
func (b *encodedBuilder) compute(e *expr.Expr) decode.Output {
	b.computed, b.stored = append(b.computed, e), append(b.stored, len(b.plan.Outputs))
	o := decode.Output{Source: decode.Computed}
	o.Physical, o.Nulls = kernels.ParquetInt64, 1
	o.Lo, o.Hi, o.Factor = math.MinInt64, math.MaxInt64, 1
	if e.Type().IsFloat() {
		o.Physical = kernels.ParquetDouble
	}
	return o
}

// entries is an output that is computed of the entries of a column's dictionary, without its form.
func (b *encodedBuilder) entries(in expr.Input) (o decode.Output, why string) {
	o, why = b.output(in.Column)
	o.Of = in.Of
	return o, why
}

// inlineWords is how many words kernels.ParquetInline has.
const inlineWords = 2

// encodedForm is how kernels hold a field whose strings they do not keep. The numbers of interned
// strings have the form of bits, and so have strings that take more words than kernels make: they
// only look them up, among those of a dictionary's entries (TEXT-CODED in package decode). 16 bytes
// fill the words of a string.
func encodedForm(f key.Field, o *decode.Output) uint8 {
	raw := f.Form == key.FormRaw && o.Physical == kernels.ParquetBinary
	if raw || f.Form == key.FormInline && f.Words == inlineWords {
		return kernels.ParquetInline
	}
	return kernels.ParquetBits
}

// arguments adds the outputs that state words are made of, and those that are only looked through
// for NULLs.
func (b *encodedBuilder) arguments(row agg.OneRow) (why string) {
	for i, e := range b.Query.Args {
		used := slices.ContainsFunc(row.Words, func(w agg.RowWord) bool { return w.Uses(i) })
		o := noOutput
		// else it is count(1)
		if v, constant := e.Const(); (!constant || v.Null || used) && (used || b.ofRows(i)) {
			o, why = b.argument(i, used)
		}
		if why != "" {
			return why
		}
		b.args = append(b.args, o)
	}
	return ""
}

// ofRows reports whether argument i is one of aggregates of all rows.
func (b *encodedBuilder) ofRows(i int) bool {
	return slices.ContainsFunc(b.Query.Calls, func(c agg.Call) bool { return c.Part == 0 && slices.Contains(c.Args, i) })
}

// argument is the output of argument i: its value, or, where only its NULLs are counted, any that
// is NULL where it is.
func (b *encodedBuilder) argument(i int, used bool) (output int, why string) {
	e := b.Query.Args[i]
	c, plain := e.Column()
	if plain && !used {
		if output = b.outputOf(c); output >= 0 {
			return output, ""
		}
	}
	if text, when, ok := e.ColumnWhen(); ok && used && e.Type().Rep() == column.RepBytes && when.OnWords() {
		return b.textWhen(text, when)
	}
	switch {
	case plain && e.Type().Rep() == column.RepBytes:
		return b.text(c, used)
	case plain:
		return b.value(c)
	case e.OnWords():
		return b.add(b.compute(e)), ""
	}
	if in, ok := e.OfEntries(); ok && expr.IsWord(e.Type()) {
		o, why := b.entries(in)
		return b.add(o), why
	}
	return noOutput, fmt.Sprintf("GPUs do not compute the argument of %s", b.callOf(i))
}

// add adds an output that is a value, and returns its number.
func (b *encodedBuilder) add(o decode.Output) int {
	o.Field, o.Form, o.Words = -1, kernels.ParquetValue, 1
	b.plan.Outputs = append(b.plan.Outputs, o)
	return len(b.plan.Outputs) - 1
}

// program makes the program of the filter and of what is computed, and adds the outputs that it
// loads.
func (b *encodedBuilder) program() (why string) {
	where := b.Query.Where
	if where == nil && len(b.computed) == 0 {
		return ""
	}
	p, why := expr.NewProgram(where, b.computed, kernels.ParquetRegisters, true)
	if why != "" {
		return "GPUs do not compute " + why
	}
	inputs := make([]int, len(p.Inputs))
	for i, in := range p.Inputs {
		switch {
		case in.Length:
			inputs[i], why = b.length(in)
		case in.Match != nil:
			inputs[i], why = b.match(in)
		case in.Of == nil:
			inputs[i], why = b.value(in.Column)
		default:
			var o decode.Output
			o, why = b.entries(in)
			inputs[i] = b.add(o)
		}
		if why != "" {
			return why
		}
	}
	b.plan.Registers, b.plan.Filters = p.Registers, where != nil
	b.plan.Steps = kernelSteps(p, inputs, b.stored)
	return ""
}

// kernelSteps is the steps of a program as kernels take them, with what its inputs and values are
// there.
func kernelSteps(p *expr.Program, inputs, stored []int) (steps []kernels.ParquetStep) {
	for _, s := range p.Steps {
		switch s.Code {
		case expr.CodeLoad:
			s.Constant = uint64(inputs[s.Constant])
		case expr.CodeStore:
			s.Constant = uint64(stored[s.Constant])
		}
		steps = append(steps, kernels.ParquetStep{Constant: s.Constant, Code: stepCodes[s.Code], To: s.To, A: s.A, B: s.B, C: s.C})
	}
	return steps
}

// stepCodes is the kernels' numbers of operations.
var stepCodes = [...]uint8{
	expr.CodeLoad: kernels.ParquetLoad, expr.CodeLiteral: kernels.ParquetLiteral, expr.CodeNone: kernels.ParquetNone,
	expr.CodeStore: kernels.ParquetStore, expr.CodeKeep: kernels.ParquetKeep,
	expr.CodeCompareInt: kernels.ParquetCompareInt, expr.CodeCompareUint: kernels.ParquetCompareUint,
	expr.CodeCompareDouble: kernels.ParquetCompareDouble,
	expr.CodeAnd:           kernels.ParquetAnd, expr.CodeOr: kernels.ParquetOr, expr.CodeNot: kernels.ParquetNotBool,
	expr.CodeIsNull: kernels.ParquetIsNull, expr.CodeSelect: kernels.ParquetSelect, expr.CodeReplace: kernels.ParquetReplace,
	expr.CodeNullUnless: kernels.ParquetNullUnless,
	expr.CodeAdd:        kernels.ParquetAdd, expr.CodeSubtract: kernels.ParquetSubtract, expr.CodeMultiply: kernels.ParquetMultiply,
	expr.CodeDivide: kernels.ParquetDivide, expr.CodeRemainder: kernels.ParquetRemainder, expr.CodeWithin: kernels.ParquetWithin,
	expr.CodeBitAnd: kernels.ParquetBitAnd, expr.CodeBitOr: kernels.ParquetBitOr, expr.CodeBitXor: kernels.ParquetBitXor,
	expr.CodeFloor: kernels.ParquetFloor, expr.CodeFloorRest: kernels.ParquetFloorRest, expr.CodeCivil: kernels.ParquetCivil,
	expr.CodeToDouble: kernels.ParquetToDouble, expr.CodeToFloat: kernels.ParquetToFloat, expr.CodeToInteger: kernels.ParquetToInteger,
	expr.CodeMagnitude: kernels.ParquetMagnitude,
	expr.CodeAddDouble: kernels.ParquetAddDouble, expr.CodeSubtractDouble: kernels.ParquetSubtractDouble,
	expr.CodeMultiplyDouble: kernels.ParquetMultiplyDouble, expr.CodeDivideDouble: kernels.ParquetDivideDouble,
	expr.CodeRoundDouble: kernels.ParquetRoundDouble,
}

// callOf is an aggregate that argument i belongs to.
func (b *encodedBuilder) callOf(i int) string {
	return b.Query.CallTexts[slices.IndexFunc(b.Query.Calls, func(c agg.Call) bool { return slices.Contains(c.Args, i) })]
}

// outputOf is an output of column c of the scan, NULL where the column is; -1: there is none.
func (b *encodedBuilder) outputOf(c int) int {
	return slices.IndexFunc(b.plan.Outputs, func(o decode.Output) bool { return o.Source == c && o.Only == 0 })
}

// value is the output that is the value of column c of the scan, which is added once.
func (b *encodedBuilder) value(c int) (output int, why string) {
	if output, there := b.values[c]; there {
		return output, ""
	}
	o, why := b.output(c)
	if why != "" {
		return noOutput, why
	}
	if o.Physical == kernels.ParquetBytes || o.Physical == kernels.ParquetBinary {
		return noOutput, fmt.Sprintf("devices compute nothing of the texts of column %s themselves", b.columnName(c))
	}
	b.values[c] = b.add(o)
	return b.values[c], ""
}

// length is the output that is how many bytes or characters the texts of a column have, or parts of
// them.
func (b *encodedBuilder) length(in expr.Input) (output int, why string) {
	o, why := b.output(in.Column)
	if why == "" && (in.Cut != nil || in.Characters) && o.Physical != kernels.ParquetBytes {
		why = fmt.Sprintf("devices do not look into the texts of column %s as it is stored", b.columnName(in.Column))
	}
	if why != "" {
		return noOutput, why
	}
	output = b.told(o, in)
	b.plan.Outputs[output].Form = kernels.ParquetLength
	if in.Characters {
		b.plan.Outputs[output].Form = kernels.ParquetCharacters
	}
	return output, ""
}

// told adds an output that is told of the texts of an input, without its form.
func (b *encodedBuilder) told(o decode.Output, in expr.Input) (output int) {
	output = b.add(o)
	if in.Cut != nil {
		b.plan.SetCut(output, in)
	}
	return output
}

// match is the output that is whether the texts of a column are of a pattern.
func (b *encodedBuilder) match(in expr.Input) (output int, why string) {
	o, why := b.output(in.Column)
	if why == "" && o.Physical != kernels.ParquetBytes {
		why = fmt.Sprintf("devices do not compare column %s as it is stored", b.columnName(in.Column))
	}
	if why != "" {
		return noOutput, why
	}
	output = b.told(o, in)
	b.plan.SetMatch(output, in.Match)
	return output, ""
}

// output is a use of column c of the scan, without its form.
func (b *encodedBuilder) output(c int) (o decode.Output, why string) {
	t, ok := b.scan.Encoded(c)
	if !ok {
		return o, fmt.Sprintf("devices do not decode column %s as it is stored", b.columnName(c))
	}
	o.Source, o.Physical, o.Nulls = c, physicals[t.Physical], 1
	o.Lo, o.Hi, o.Factor, o.Width = t.Lo, t.Hi, t.Factor, t.Width
	if t.Mask32 {
		o.Mask32 = 1
	}
	return o, ""
}

// physicals is the kernels' numbers of physical types.
var physicals = map[parquetio.Physical]uint8{
	parquetio.Int32: kernels.ParquetInt32, parquetio.Int64: kernels.ParquetInt64,
	parquetio.Float: kernels.ParquetFloat, parquetio.Double: kernels.ParquetDouble,
	parquetio.ByteArray: kernels.ParquetBytes, parquetio.Boolean: kernels.ParquetBool,
	parquetio.FixedDecimal: kernels.ParquetDecimal, parquetio.Int96: kernels.ParquetInt96,
	parquetio.FixedBytes: kernels.ParquetBinary,
}

// columnName is the name of column c of the scan.
func (b *encodedBuilder) columnName(c int) string { return b.Columns[c] }

// place gives the outputs their arrays, and the fields what is theirs.
func (b *encodedBuilder) place() {
	fields := b.layout.Fields()
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
		o := b.args[w.Arg]
		s := kernels.ParquetState{
			Null: w.Constant, Place: uint32(o), Array: b.plan.Outputs[o].Array, Word: stateWords[w.From], Number: b.numberOf(w.Arg),
		}
		if w.Other > 0 {
			s.Other = uint16(b.args[w.Other-1]) + 1
		}
		if w.From.Times() {
			s.Constant, s.Times = uint64(b.plan.Outputs[b.args[w.Times]].Array), b.numberOf(w.Times)
		}
		if f := w.Fixed; w.From.Factors() > 0 {
			s.Constant = kernels.ParquetFixedWord(int16(f.Base), uint16(f.Beyond), uint8(f.Word), uint32(s.Constant))
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
	agg.FromFourthPowerS: kernels.ParquetFourthPowerS, agg.FromFourthPowerC: kernels.ParquetFourthPowerC,
	agg.FromFixed: kernels.ParquetFixed, agg.FromFixedProduct: kernels.ParquetFixedProduct,
	agg.FromFixedThirdPower: kernels.ParquetFixedThirdPower, agg.FromFixedFourthPower: kernels.ParquetFixedFourthPower,
	agg.FromSign:     kernels.ParquetSign,
	agg.FromUnsigned: kernels.ParquetUnsigned, agg.FromUnsignedNot: kernels.ParquetUnsignedNot,
	agg.FromText: kernels.ParquetCopy, agg.FromPrefix: kernels.ParquetPrefix, agg.FromPosition: kernels.ParquetPosition,
}

// numberOf is how kernels read the words of argument i as doubles.
func (p *planner) numberOf(i int) uint8 {
	switch t := p.Query.Args[i].Type(); {
	case t.IsFloat():
		return kernels.ParquetIsDouble
	case t.Kind == column.Uint64:
		return kernels.ParquetIsUnsigned
	default:
		return kernels.ParquetIsDecimal + t.Scale
	}
}

// nulls says what NULLs add to the state words.
func (b *encodedBuilder) nulls(row agg.OneRow) {
	for _, n := range row.Nulls {
		o := b.args[n.Arg]
		if o == noOutput { // it is a constant
			continue
		}
		null := kernels.ParquetNull{Add: n.Add, Place: uint32(o), State: uint16(n.Word)}
		if n.Unless > 0 {
			null.Unless = uint16(b.args[n.Unless-1] + 1)
		}
		b.plan.Nulls = append(b.plan.Nulls, null)
	}
}
