package decode

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Reader reads the chunks of units: a parquetio.Reader of the scan whose
// columns are the plan's sources.
type Reader interface {
	EncodedUnit(unit int) (parquetio.EncodedUnit, bool)
	ReadEncoded(unit int, into []byte) ([]parquetio.EncodedChunk, bool, error)
	CodeTexts(most []int)
}

// Keys translates entries of dictionaries into words of key fields: a
// key.Encoder. It must not be used by others beside the builder's calls.
type Keys interface {
	TranslateDict(field int, entries *column.Vector) (words [][]uint64, hash []uint64, ok bool)
}

// A Builder fills batches with units. It belongs to one worker. For each
// batch the calls are Begin, Add for each unit, End.
type Builder struct {
	plan      *Plan
	limits    Limits
	reader    Reader
	keys      Keys
	uses      [][]int      // by source: its outputs
	evals     []*expr.Eval // by output: of those with an Of
	positions bool         // states are made of them
	memory    []byte
	batch     Batch
}

// NewBuilder returns a builder of batches for a plan. The reader is the builder's
// as far as encoded units go. It and keys are used only in Add.
func NewBuilder(plan *Plan, limits Limits, reader Reader, keys Keys) *Builder {
	limits.Rows = min(limits.Rows, math.MaxInt32)
	p := &Builder{plan: plan, limits: limits, reader: reader, keys: keys, positions: plan.Positions()}
	p.evals = make([]*expr.Eval, len(plan.Outputs))
	for i := range plan.Outputs {
		if of := plan.Outputs[i].Of; of != nil {
			p.evals[i] = of.NewEval()
		}
		source := plan.Outputs[i].Source
		if source == Computed {
			continue
		}
		for source >= len(p.uses) {
			p.uses = append(p.uses, nil)
		}
		p.uses[source] = append(p.uses[source], i)
	}
	texts := make([]int, len(p.uses))
	for source, uses := range p.uses {
		texts[source] = p.textsAsStored(uses)
	}
	reader.CodeTexts(texts)
	return p
}

// textsAsStored is how many bytes texts may have in pages of values, for outputs of one source:
// kernels make no words of longer ones, unless all of the outputs take any, nor of any that an
// output looks up. The reader makes such pages codes. Where outputs take any, the dictionary is the
// device's too.
func (p *Builder) textsAsStored(uses []int) (most int) {
	switch {
	case p.looksUp(uses):
		return -1
	case p.anyLength(uses):
		return parquetio.StoredTexts
	}
	return maxInline
}

// anyLength reports whether all outputs take strings of any length.
func (p *Builder) anyLength(uses []int) bool {
	return !slices.ContainsFunc(uses, func(i int) bool { return !p.plan.Outputs[i].AnyLength() })
}

// maxInline is the bytes of the longest string of kernels.ParquetInline, where outputs do not take
// strings of any length.
const maxInline = 15

// Begin starts a batch in memory of at least Limits.Bytes, aligned to 16
// bytes, which is the builder's until End returns.
func (p *Builder) Begin(memory []byte) {
	p.memory = memory[:p.limits.Bytes]
	p.batch = Batch{plan: p.plan}
}

// End ends the batch: all of it is in its memory, the first Size bytes. One
// without units is not for the device, and its memory means nothing.
func (p *Builder) End() *Batch {
	done := p.batch
	if len(done.units) > 0 {
		done.describe(p.memory)
	}
	p.memory, p.batch = nil, Batch{}
	return &done
}

// RowBytes is how many bytes a row of a unit has in its file, about.
func (p *Builder) RowBytes(unit int) float64 {
	u, _ := p.reader.EncodedUnit(unit)
	return float64(u.Bytes) / float64(max(u.Rows, 1))
}

// Add reads a unit into the batch. rows is how many it has, whatever came of
// it. An error is about reading the file; then, as with all but encoded.AddedUnit, the
// batch is as it was before.
//
// The numbers of interned strings that Keys gives may take memory: see
// key.Interner.Settle.
func (p *Builder) Add(unit int) (rows int64, added encoded.Added, err error) {
	u, ok := p.reader.EncodedUnit(unit)
	if !ok {
		return u.Rows, encoded.AddedNone, nil
	}
	if !p.mayFit(u) {
		return u.Rows, p.noRoom(), nil
	}
	d := p.batch // its slices may be appended to: the batch's own lengths stay
	chunks, ok, err := p.reader.ReadEncoded(unit, p.memory[d.data:])
	if err != nil || !ok {
		return u.Rows, encoded.AddedNone, err
	}
	base := p.batch.data
	d.data += chunks[len(chunks)-1].End
	for source := range chunks {
		if added := p.source(&d, source, &chunks[source], base); added != encoded.AddedUnit {
			return u.Rows, added, nil
		}
	}
	d.data = align(d.data)
	if p.positions {
		d.places = append(d.places, kernels.ParquetUnit{Position: uint64(u.First), First: uint64(d.rows)})
	}
	d.rows += int(u.Rows)
	d.units = append(d.units, unit)
	if !p.fits(&d) {
		return u.Rows, p.noRoom(), nil
	}
	p.batch = d
	return u.Rows, encoded.AddedUnit, nil
}

// source adds the pages of a source of a unit, whose bytes begin at base, and
// what is to be done with them.
func (p *Builder) source(d *Batch, source int, chunk *parquetio.EncodedChunk, base int) encoded.Added {
	if source >= len(p.uses) {
		return encoded.AddedUnit // nothing is made of it
	}
	uses := p.uses[source]
	tasks := make([]kernels.ParquetTask, len(uses))
	for i, output := range uses {
		tasks[i].Output = uint32(output)
		if chunk.Dict == nil {
			continue
		}
		if added := p.entries(d, &tasks[i], &chunk.Dict.Values); added != encoded.AddedUnit {
			return added
		}
	}
	texts := p.anyLength(uses)
	if chunk.DictPage != nil {
		p.dictionary(d, tasks, chunk.DictPage, base)
	}
	first := d.rows
	for i := range chunk.Pages {
		page := &chunk.Pages[i]
		if !page.Coded && p.looksUp(uses) {
			return encoded.AddedNone
		}
		for _, t := range tasks {
			t.Page = uint32(len(d.pages))
			d.tasks = append(d.tasks, t)
		}
		d.addPage(page, base, first, texts)
		first += page.Rows
	}
	return encoded.AddedUnit
}

// looksUp tells whether an output has words only for the entries of
// dictionaries: those of strings that are not held inline, what is computed of entries, and refs
// beside outputs that do not take strings of any length.
func (p *Builder) looksUp(uses []int) bool {
	for _, i := range uses {
		o := &p.plan.Outputs[i]
		text := o.Physical == kernels.ParquetBytes || o.Physical == kernels.ParquetBinary
		if !o.OfValues() || text && o.Form == kernels.ParquetBits || o.Form == kernels.ParquetRef && !p.anyLength(uses) {
			return true
		}
	}
	return false
}

// addPage adds a page that begins with a row of the batch. texts: its values may be strings of any
// length.
func (p *Batch) addPage(from *parquetio.EncodedPage, base, first int, texts bool) {
	to := kernels.ParquetPage{
		At: uint64(base + from.At), Bytes: uint32(from.Bytes), Size: uint32(from.Size),
		Levels: uint32(from.Levels), Rows: uint32(from.Rows), First: uint32(first),
		Encoding: pageEncodings[from.Encoding],
	}
	if from.Levels == parquetio.SizedLevels {
		to.Levels = kernels.ParquetSizedLevels
	}
	if from.Coded {
		to.Coded = 1
	} else if texts {
		to.Texts = 1
	}
	to.Codec = codecs[from.Codec]
	p.makeRoom(&to)
	p.pages = append(p.pages, to)
}

// codecs is the kernels' number of each codec of pages.
var codecs = [...]uint8{
	parquetio.PageUncompressed: kernels.ParquetCodecNone, parquetio.PageSnappy: kernels.ParquetCodecSnappy, parquetio.PageZstd: kernels.ParquetCodecZstd,
}

// pageEncodings is the kernels' numbers of encodings.
var pageEncodings = [...]uint8{
	parquetio.PlainValues: kernels.ParquetPlain, parquetio.SplitValues: kernels.ParquetSplit,
	parquetio.DeltaValues: kernels.ParquetDelta, parquetio.TruthRuns: kernels.ParquetTruths,
}

// makeRoom gives a page its room in work memory.
func (p *Batch) makeRoom(page *kernels.ParquetPage) {
	if page.Coded == 1 || page.Texts == 1 {
		page.Runs = uint64(p.expanded)
		p.expanded += kernels.ParquetRunsRoom(int(page.Size))
	}
	switch page.Expanded = uint64(p.expanded); page.Codec {
	case kernels.ParquetCodecSnappy:
		p.expanded += kernels.ParquetSnappyRoom(int(page.Size), int(page.Bytes))
	case kernels.ParquetCodecZstd:
		p.expanded += kernels.ParquetZstdRoom(int(page.Size))
	}
}

// entries writes what the entries of a dictionary are in an output's arrays.
func (p *Builder) entries(d *Batch, t *kernels.ParquetTask, values *column.Vector) encoded.Added {
	o := &p.plan.Outputs[t.Output]
	if o.Of != nil {
		if values = p.computed(t.Output, values); values == nil {
			return encoded.AddedNone
		}
	}
	if o.Form == kernels.ParquetRef {
		return p.texts(d, t, values)
	}
	d.data = align(d.data)
	t.Entries, t.Count = uint64(d.data), uint32(values.Len)
	bytes := values.Len * int(arraysOf(&o.ParquetOutput)) * 8
	if bytes > p.limits.Bytes-d.data {
		return p.noRoom()
	}
	to := p.memory[d.data:]
	d.data += bytes
	switch o.Form {
	case kernels.ParquetLength:
		for i, s := range values.Span[:values.Len] {
			binary.LittleEndian.PutUint64(to[8*i:], uint64(s.Len))
		}
		return encoded.AddedUnit
	case kernels.ParquetCharacters:
		for i := range values.Len {
			binary.LittleEndian.PutUint64(to[8*i:], uint64(utf8.RuneCount(values.Bytes(i))))
		}
		return encoded.AddedUnit
	case kernels.ParquetMatch:
		for i := range values.Len {
			binary.LittleEndian.PutUint64(to[8*i:], o.Match.Word(values.Bytes(i)))
		}
		return encoded.AddedUnit
	case kernels.ParquetValue:
		switch {
		case values.Type.IsFloat():
			put(to, values.Float)
		case values.Type.Rep() == column.RepWide && !values.Narrow:
			return putNarrow(to, values.Wide[:values.Len])
		default:
			put(to, values.Int)
		}
		return encoded.AddedUnit
	}
	words, hash, ok := p.keys.TranslateDict(o.Field, values)
	if !ok {
		return encoded.AddedNone
	}
	for _, w := range words {
		to = put(to, w)
	}
	put(to, hash)
	return encoded.AddedUnit
}

// putNarrow writes wide decimals of which 64 bits hold all.
func putNarrow(to []byte, values []decimal256.Num) encoded.Added {
	for i, v := range values {
		w := v.Array() // the lowest first
		if sign := uint64(int64(w[0]) >> 63); w[1] != sign || w[2] != sign || w[3] != sign {
			return encoded.AddedNone
		}
		binary.LittleEndian.PutUint64(to[8*i:], w[0])
	}
	return encoded.AddedUnit
}

// dictionary adds the dictionary page of a chunk whose outputs take strings of any length, for each
// of them: the device makes the words of the entries.
func (p *Builder) dictionary(d *Batch, tasks []kernels.ParquetTask, page *parquetio.EncodedPage, base int) {
	number := uint32(len(d.pages))
	d.addPage(page, base, 0, true)
	for i := range tasks {
		t := &tasks[i]
		d.dicts = append(d.dicts, kernels.ParquetDict{Words: uint64(d.expanded), Page: number, Output: t.Output})
		t.Entries, t.Count = kernels.ParquetInWork|uint64(d.expanded), uint32(page.Rows)
		d.expanded += entriesRoom(&p.plan.Outputs[t.Output], page.Rows)
	}
}

// texts adds the strings of a dictionary for an output that refers to a Store: as a page of values,
// of whose strings the device makes the words of the entries.
func (p *Builder) texts(d *Batch, t *kernels.ParquetTask, values *column.Vector) encoded.Added {
	if values.Len == 0 {
		return encoded.AddedUnit
	}
	size := 0
	for _, s := range values.Span[:values.Len] {
		size += 4 + int(s.Len)
	}
	d.data = align(d.data)
	if size > p.limits.Bytes-d.data-kernels.ParquetPadding {
		return p.noRoom()
	}
	page := parquetio.EncodedPage{At: d.data, Bytes: size, Size: size, Rows: values.Len}
	to := p.memory[d.data:]
	for i := range values.Len {
		binary.LittleEndian.PutUint32(to, values.Span[i].Len)
		to = to[4+copy(to[4:], values.Bytes(i)):]
	}
	clear(to[:kernels.ParquetPadding])
	d.data += size + kernels.ParquetPadding
	tasks := []kernels.ParquetTask{*t}
	p.dictionary(d, tasks, &page, 0)
	*t = tasks[0]
	return encoded.AddedUnit
}

// computed is what an output's expression is of entries; nil: one of them has no value, or fails,
// which is an error only if a row has it.
func (p *Builder) computed(output uint32, entries *column.Vector) *column.Vector {
	values, err := p.evals[output].EvalColumn(p.plan.Outputs[output].Source, entries)
	if err != nil || slices.Contains(values.Null, true) {
		return nil
	}
	return values
}
