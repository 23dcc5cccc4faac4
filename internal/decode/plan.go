package decode

import (
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Output is a use of a source: the argument of aggregates, or a field of the
// key.
type Output struct {
	kernels.ParquetOutput

	Match  *expr.Match // of kernels.ParquetMatch: the pattern
	Source int         // column of the scan, counted among those that are read; Computed: none
	Of     *expr.Expr  // of the source alone, computed on the entries of its dictionary; nil: its values
	CutOf  *expr.Cut   // the part of strings that Of is, which kernels take too (SetCut); nil: Of is none
	Field  int         // field of the key; -1: a value
}

// Computed is the Source of an output that the program makes.
const Computed = -1

// Plan is what the batches of a query are made into: what does not differ
// between them.
type Plan struct {
	Outputs []Output               // their arrays follow one another from 0 on: see Place
	Fields  []kernels.ParquetField // in the order of the key columns
	States  []kernels.ParquetState // one for each state word
	Nulls   []kernels.ParquetNull  // what rows add to state words for the outputs that are NULL in them

	// The program that filters rows and makes the outputs whose source is Computed; no steps: there
	// is none.
	Steps     []kernels.ParquetStep
	Registers int
	Filters   bool // a step passes rows over
	// Limited: of groups only the first in order of hash are wanted. Rows beyond some hash may be
	// passed over
	Limited bool

	patterns []byte // of the outputs that have one (SetMatch), as kernels take them

	HashWords int // of a row: 1, or 0 where the group-by kernels compute the hash
	KeyWords  int
}

// RowWords is the words of a row.
func (p *Plan) RowWords() int { return p.HashWords + p.KeyWords + len(p.States) }

// Place gives each output its arrays, in order, and each field those of its
// output: fields are the outputs with a Field, in the order of these, and word
// is the first key word of each. What a NULL is in a field is left to set.
func (p *Plan) Place(word []int) error {
	at := uint32(0)
	p.Fields = make([]kernels.ParquetField, len(word))
	placed := 0
	for i := range p.Outputs {
		o := &p.Outputs[i]
		o.Array = at
		at += arraysOf(&o.ParquetOutput)
		if o.Field < 0 {
			continue
		}
		if o.Field >= len(word) || p.Fields[o.Field].Words != 0 {
			return fmt.Errorf("decode: output %d is of key field %d of %d", i, o.Field, len(word))
		}
		p.Fields[o.Field] = kernels.ParquetField{
			Array: o.Array, Words: uint32(o.Words), Word: uint32(word[o.Field]), Place: uint32(i),
		}
		placed++
	}
	if placed != len(word) {
		return fmt.Errorf("decode: outputs for %d key fields of %d", placed, len(word))
	}
	return nil
}

// Texts reports whether rows may refer to strings of a Store.
func (p *Plan) Texts() bool {
	return p.TextFields() > 0
}

// TextFields is how many outputs may refer to strings of a Store.
func (p *Plan) TextFields() (n int) {
	for i := range p.Outputs {
		n += int(p.Outputs[i].Texts)
	}
	return n
}

// textEnd is one more than the last output that may.
func (p *Plan) textEnd() int {
	n := len(p.Outputs)
	for n > 0 && p.Outputs[n-1].Texts == 0 {
		n--
	}
	return n
}

// Refs reports whether rows refer to strings of a Store whatever the length of these.
func (p *Plan) Refs() bool {
	return slices.ContainsFunc(p.Outputs, func(o Output) bool { return o.Form == kernels.ParquetRef })
}

// Positions reports whether a state is made of the positions of rows.
func (p *Plan) Positions() bool {
	return slices.ContainsFunc(p.States, func(s kernels.ParquetState) bool { return s.Word == kernels.ParquetPosition })
}

// Only reports whether some strings count only where an output of the program is true.
func (p *Plan) Only() bool {
	return slices.ContainsFunc(p.Outputs, func(o Output) bool { return o.Only > 0 })
}

// AnyLength reports whether an output takes strings of any length.
func (p *Plan) AnyLength() bool {
	return slices.ContainsFunc(p.Outputs, func(o Output) bool { return o.AnyLength() })
}

// AnyLength reports whether kernels take strings of any length for the output, as they lie in pages
// of values.
func (o *Output) AnyLength() bool {
	return o.OfValues() && o.Physical == kernels.ParquetBytes && (o.Texts == 1 || o.told())
}

// OfValues reports whether kernels make the output of values: nothing of it has to be computed of
// the entries of dictionaries.
func (o *Output) OfValues() bool { return o.Of == nil || o.CutOf != nil }

// told reports whether the output is one word that is told of a string, whatever its length.
func (o *Output) told() bool {
	return o.Form == kernels.ParquetLength || o.Form == kernels.ParquetCharacters || o.Form == kernels.ParquetMatch
}

// SetMatch makes the output whether strings are of a pattern.
func (p *Plan) SetMatch(output int, m *expr.Match) {
	o := &p.Outputs[output]
	o.Form, o.Match, o.Pattern = kernels.ParquetMatch, m, uint32(len(p.patterns))
	p.patterns = kernels.AppendParquetPattern(p.patterns, m.Pieces, m.Folded)
}

// SetCut makes the output of the parts of strings that an input has.
func (p *Plan) SetCut(output int, in expr.Input) {
	o := &p.Outputs[output]
	o.Of, o.CutOf, o.Cut = in.Of, in.Cut, uint32(len(p.patterns))+1
	var steps []kernels.ParquetCutStep
	for _, s := range in.Cut.Steps {
		steps = append(steps, kernels.ParquetCutStep{Kind: cutKinds[s.Kind], A: int32(s.A), B: int32(s.B), Separator: []byte(s.Separator)})
	}
	p.patterns = kernels.AppendParquetCut(p.patterns, steps)
}

// cutKinds is the kernels' numbers of what steps take.
var cutKinds = [...]uint32{
	expr.CutCharacters: kernels.ParquetCutCharacters, expr.CutFromEnd: kernels.ParquetCutFromEnd, expr.CutPart: kernels.ParquetCutPart,
	expr.CutLastPart: kernels.ParquetCutLastPart, expr.CutBlanks: kernels.ParquetCutBlanks,
}

// arraysOf is how many arrays an output has.
func arraysOf(o *kernels.ParquetOutput) uint32 {
	switch o.Form {
	case kernels.ParquetValue, kernels.ParquetLength, kernels.ParquetCharacters, kernels.ParquetMatch, kernels.ParquetRef:
		return 1
	}
	return uint32(o.Words) + 1
}

// arrays is how many arrays all outputs have.
func (p *Plan) arrays() (n int) {
	for i := range p.Outputs {
		n += int(arraysOf(&p.Outputs[i].ParquetOutput))
	}
	return n
}

// arrayWords is the words from one array to the next for so many rows.
func arrayWords(rows int) int { return (rows + 1) &^ 1 }

// WorkBytes is the work memory that a batch of so many rows takes, whose
// pages have so many bytes decompressed, with what is between them.
func (p *Plan) WorkBytes(rows, expanded int) int {
	return align(expanded) + (p.arrays()*8+len(p.Outputs)*4)*arrayWords(rows) + p.listBytes(rows)
}

// listBytes is the bytes of the lists of rows that are not passed over: by the program, and by
// their hashes, with the number of the former (Kernels.first).
func (p *Plan) listBytes(rows int) (n int) {
	if p.Filters {
		n += 4 * arrayWords(rows)
	}
	if p.Limited {
		n += 4*arrayWords(rows) + countBytes
	}
	return n
}

// countBytes is the bytes of a number of rows.
const countBytes = 8

// ComputesTexts reports whether workers compute something of texts: of the entries of dictionaries,
// and of all values where pages have none.
func (p *Plan) ComputesTexts() bool {
	return slices.ContainsFunc(p.Outputs, func(o Output) bool { return !o.OfValues() && o.Physical == kernels.ParquetBytes })
}

// RowBytes is the bytes of so many rows.
func (p *Plan) RowBytes(rows int) int { return rows * p.RowWords() * 8 }

// align rounds up to where a page may begin.
func align(n int) int { return (n + kernels.ParquetPadding - 1) &^ (kernels.ParquetPadding - 1) }
