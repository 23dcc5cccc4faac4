package plan

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file plans how a device that has all groups by the keys and a distinct value makes groups by
// the keys of them.

// RegroupedKeys is the keys of these groups on a device, which compares one word at least.
func (p *Plan) RegroupedKeys() *key.Layout {
	if len(p.Query.Keys) > 0 {
		return p.Layout
	}
	l := key.NewLayout(nil)
	l.Constant()
	return l
}

// distinctPart is the part of the aggregates of the one distinct, or counted, value that devices
// group by.
const distinctPart = 1

// regrouping says how a device makes rows of groups by the keys of those by the keys and a value,
// whose states are `from`. If it does not, why says which aggregate the CPU has to make, for
// people.
func (p *planner) regrouping(from *agg.Layout) (_ *gpu.Regrouping, why string) {
	words, why := from.DevicePart(distinctPart)
	if why != "" {
		return nil, why
	}
	fields := p.DeviceKeys().Fields()
	value, t := fields[len(fields)-1], p.Query.Args[p.Sets[0].Arg].Type()
	base := uint32(p.DeviceKeys().Base())
	r := &gpu.Regrouping{KeyWords: p.RegroupedKeys().Words}
	r.Value = kernels.EgaRegroupPlan{
		Null: value.NullBit, NullWord: base + uint32(value.NullWord),
		Word: base + uint32(value.Word), Shift: uint8(value.Shift), Bits: uint8(max(value.Bits, 1)), Kind: valueKind(t),
	}
	for _, w := range words {
		if w.From != agg.FromConstant && value.Form != key.FormBits {
			return nil, fmt.Sprintf("%s is not one word", p.Query.ArgTexts[p.Sets[0].Arg])
		}
		r.States = append(r.States, p.regroupState(w))
	}
	for i, f := range p.Layout.Fields() {
		r.Keys = append(r.Keys, regroupKey(fields[i], f, base))
		r.Numbered = r.Numbered || f.Form == key.FormID
	}
	return r, ""
}

// valueKind is how the word of a value of a type is made of its bits in a key.
func valueKind(t column.Type) uint8 {
	switch {
	case t.IsFloat() && t.Bits() == 32:
		return kernels.EgaRegroupFloat
	case t.IsSigned() || t.Kind == column.Date:
		return kernels.EgaRegroupSigned
	}
	return kernels.EgaRegroupUnsigned
}

// regroupState is a state word as kernels make it.
func (p *planner) regroupState(w agg.PartWord) kernels.EgaRegroupState {
	s := kernels.EgaRegroupState{State: uint32(w.Word), Constant: w.Constant}
	if w.From == agg.FromConstant {
		return s
	}
	s.Word, s.Number = uint8(stateWords[w.From]), p.numberOf(w.Arg)
	if f := w.Fixed; w.From.Factors() > 0 {
		s.Constant = kernels.ParquetFixedWord(int16(f.Base), uint16(f.Beyond), uint8(f.Word), 0)
	}
	return s
}

// regroupForms is the kernels' numbers of forms.
var regroupForms = [...]uint8{
	key.FormBits: kernels.EgaRegroupBits, key.FormID: kernels.EgaRegroupNumber, key.FormInline: kernels.EgaRegroupText,
	key.FormRaw: kernels.EgaRegroupRaw, key.FormWide: kernels.EgaRegroupWide,
}

// regroupKey is a field of both keys, whose words begin at word base of a row.
func regroupKey(from, to key.Field, base uint32) kernels.EgaRegroupKey {
	return kernels.EgaRegroupKey{
		FromNull: from.NullBit, ToNull: to.NullBit, FromNullWord: base + uint32(from.NullWord), ToNullWord: base + uint32(to.NullWord),
		FromWord: base + uint32(from.Word), ToWord: base + uint32(to.Word), Form: regroupForms[from.Form], Words: uint8(from.Words),
		FromShift: uint8(from.Shift), ToShift: uint8(to.Shift), Bits: uint8(from.Bits),
	}
}

// regroup decides how a device makes groups by the keys of those that it groups by the keys and a
// value, or by parts of the keys and that, whose states are given, and which of these leave it.
func (d *Device) regroup(p *planner, states *agg.Layout) {
	if p.Divided != nil {
		d.Regroups = "it groups by what it can compute of the keys, and the CPU groups these by the keys"
		if len(p.Sets) > 0 {
			d.Regroups = fmt.Sprintf("it groups by what it can compute of the keys and %s, and the CPU groups these by the keys", p.Query.ArgTexts[p.Sets[0].Arg])
		}
		return
	}
	x := p.Query.ArgTexts[p.Sets[0].Arg]
	first, then := "it groups by the keys and "+x, "these by the keys"
	if len(p.Query.Keys) == 0 {
		first, then = "it groups by "+x, "these as one group"
	}
	var why string
	if d.Regroup, why = p.regrouping(states); why != "" {
		d.Regroups = fmt.Sprintf("%s, and the CPU groups %s: %s", first, then, why)
		return
	}
	d.Regroups = fmt.Sprintf("%s; if one has all groups, it groups %s", first, then)
	d.Select, d.Wanted = p.selection(p.StatesOf(p.RegroupedKeys(), nil, true, nil))
}
