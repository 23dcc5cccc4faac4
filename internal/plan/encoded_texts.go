package plan

import (
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file is the texts of columns in rows that devices make: who keeps them, and what they cost.

// textsOnDevice reports whether devices keep the strings of a key field themselves. Where memory is
// limited, a row that leaves a device before the end needs a copy of each of its strings, one by
// one: there devices keep them only if none is likely to leave, and else they are the host's
// (package key: Texts).
func (b *encodedBuilder) textsOnDevice(o *decode.Output) bool {
	return b.rowsStay() && o.Physical == kernels.ParquetBytes && o.Of == nil && o.Source != decode.Computed
}

// rowsStay reports whether rows are not likely to leave a device before the end, or may do so with
// refs to its strings.
func (b *encodedBuilder) rowsStay() bool {
	return b.left == 0 || b.Facts.Rows >= 0 && b.Facts.Rows*int64(8*(1+b.layout.Words+b.stateWords)) <= mostRowsOnDevice
}

// mostRowsOnDevice is how many bytes of rows, if each were a group, a device of a data center has
// room for in its table, beside batches and strings. Mostly groups are a part of the rows.
const mostRowsOnDevice = 12 << 30

// text is the output that is the refs of the texts of column c of the scan, which is added once;
// or, if only its NULLs are of use, the lengths.
func (b *encodedBuilder) text(c int, used bool) (output int, why string) {
	if output, there := b.texts[c]; there {
		return output, ""
	}
	output, why = b.ref(c, used)
	if why == "" && used {
		b.texts[c] = output
	}
	return output, why
}

// textWhen is the refs of texts that are NULL where a condition is not true.
func (b *encodedBuilder) textWhen(c int, when *expr.Expr) (output int, why string) {
	if output, why = b.ref(c, true); why != "" {
		return noOutput, why
	}
	only := b.add(b.compute(when))
	b.plan.Outputs[output].Only = uint32(only) + 1
	return output, ""
}

// ref is text without looking for one that is there.
func (b *encodedBuilder) ref(c int, used bool) (output int, why string) {
	o, why := b.output(c)
	switch {
	case why != "":
		return noOutput, why
	case o.Physical != kernels.ParquetBytes:
		return noOutput, fmt.Sprintf("devices take strings of a fixed length as keys alone, and column %s is none", b.columnName(c))
	case !used:
		return b.length(expr.Input{Column: c})
	case !b.rowsStay():
		return noOutput, fmt.Sprintf("memory is limited, and devices may not have room for all rows, with the texts of column %s", b.columnName(c))
	}
	output = b.add(o)
	b.plan.Outputs[output].Form, b.plan.Outputs[output].Texts = kernels.ParquetRef, 1
	return output, ""
}

// longTexts is the number of texts in the keys and states of that many rows that are of columns
// whose texts are mostly too long for a key of the usual size: those that workers give codes and
// refs, and those that devices keep. Texts of which workers compute something get codes whatever
// their length, where there is not a dictionary for all of them.
func (p *planner) longTexts(plan *decode.Plan, rows int64) (coded, stored int64) {
	exprs := p.DeviceExprs()
	for i, f := range p.DeviceKeys().Fields() {
		c, ok := exprs[i].Column()
		if !ok || f.Form != key.FormInline {
			continue
		}
		switch length, _ := p.scan.TextLength(c); {
		case length <= key.MaxInline:
		case slices.ContainsFunc(plan.Outputs, func(o decode.Output) bool { return o.Field == i && o.Texts == 1 }):
			stored += rows
		default:
			coded += rows
		}
	}
	computed := map[int]bool{} // columns
	for _, o := range plan.Outputs {
		texts := o.Physical == kernels.ParquetBytes || o.Of != nil && o.Of.Type().Rep() == column.RepBytes
		if !o.OfValues() && texts && !computed[o.Source] && !p.scan.DictAll(o.Source) {
			computed[o.Source] = true
			coded += rows
		}
		if o.Form != kernels.ParquetRef {
			continue
		}
		if length, _ := p.scan.TextLength(o.Source); length > key.MaxInline {
			stored += rows
		}
	}
	return coded, stored
}
