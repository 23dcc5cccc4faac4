package decode

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/parcel"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Reader reads the chunks of units: a parquetio.Reader of the scan whose
// columns are the plan's sources.
type Reader interface {
	EncodedUnit(unit int) (parquetio.EncodedUnit, bool)
	ReadEncoded(unit int, into []byte) ([]parquetio.EncodedChunk, bool, error)
}

// Keys translates entries of dictionaries into words of key fields: a
// key.Encoder. It must not be used by others beside the packer's calls.
type Keys interface {
	TranslateDict(field int, entries *column.Vector) (words [][]uint64, hash []uint64, ok bool)
}

// A Packer fills parcels with units. It belongs to one worker. For each
// parcel the calls are Begin, Add for each unit, Parcel.
type Packer struct {
	plan   *Plan
	limits Limits
	reader Reader
	keys   Keys
	uses   [][]int // by source: its outputs
	memory []byte
	parcel Parcel
}

// NewPacker returns a packer of parcels for a plan. The reader and keys are
// used only in Add.
func NewPacker(plan *Plan, limits Limits, reader Reader, keys Keys) *Packer {
	limits.Rows = min(limits.Rows, math.MaxInt32)
	p := &Packer{plan: plan, limits: limits, reader: reader, keys: keys}
	for i := range plan.Outputs {
		source := plan.Outputs[i].Source
		for source >= len(p.uses) {
			p.uses = append(p.uses, nil)
		}
		p.uses[source] = append(p.uses[source], i)
	}
	return p
}

// Begin starts a parcel in memory of at least Limits.Bytes, aligned to 16
// bytes, which is the packer's until Parcel returns.
func (p *Packer) Begin(memory []byte) {
	p.memory = memory[:p.limits.Bytes]
	p.parcel = Parcel{plan: p.plan}
}

// Parcel ends the parcel: all of it is in its memory, the first Size bytes. One
// without units is not for the device, and its memory means nothing.
func (p *Packer) Parcel() *Parcel {
	done := p.parcel
	if len(done.units) > 0 {
		done.describe(p.memory)
	}
	p.memory, p.parcel = nil, Parcel{}
	return &done
}

// Add reads a unit into the parcel. rows is how many it has, whatever came of
// it. An error is about reading the file; then, as with all but parcel.AddedUnit, the
// parcel is as it was before.
//
// The numbers of interned strings that Keys gives may take memory: see
// key.Interner.Settle.
func (p *Packer) Add(unit int) (rows int64, added parcel.Added, err error) {
	u, ok := p.reader.EncodedUnit(unit)
	if !ok {
		return u.Rows, parcel.AddedNone, nil
	}
	if !p.mayFit(u) {
		return u.Rows, p.noRoom(), nil
	}
	d := p.parcel // its slices may be appended to: the parcel's own lengths stay
	chunks, ok, err := p.reader.ReadEncoded(unit, p.memory[d.data:])
	if err != nil || !ok {
		return u.Rows, parcel.AddedNone, err
	}
	base := p.parcel.data
	d.data += chunks[len(chunks)-1].End
	for source := range chunks {
		if added := p.source(&d, source, &chunks[source], base); added != parcel.AddedUnit {
			return u.Rows, added, nil
		}
	}
	d.data = align(d.data)
	d.rows += int(u.Rows)
	d.units = append(d.units, unit)
	if !p.fits(&d) {
		return u.Rows, p.noRoom(), nil
	}
	p.parcel = d
	return u.Rows, parcel.AddedUnit, nil
}

// source adds the pages of a source of a unit, whose bytes begin at base, and
// what is to be done with them.
func (p *Packer) source(d *Parcel, source int, chunk *parquetio.EncodedChunk, base int) parcel.Added {
	if source >= len(p.uses) {
		return parcel.AddedUnit // nothing is made of it
	}
	uses := p.uses[source]
	tasks := make([]kernels.ParquetTask, len(uses))
	for i, output := range uses {
		tasks[i].Output = uint32(output)
		if chunk.Dict == nil {
			continue
		}
		if added := p.entries(d, &tasks[i], &chunk.Dict.Values); added != parcel.AddedUnit {
			return added
		}
	}
	first := d.rows
	for i := range chunk.Pages {
		page := &chunk.Pages[i]
		if !page.Coded && p.looksUp(uses) {
			return parcel.AddedNone
		}
		for _, t := range tasks {
			t.Page = uint32(len(d.pages))
			d.tasks = append(d.tasks, t)
		}
		d.addPage(page, base, first)
		first += page.Rows
	}
	return parcel.AddedUnit
}

// looksUp tells whether an output has words only for the entries of
// dictionaries: those of strings that are not held inline.
func (p *Packer) looksUp(uses []int) bool {
	for _, i := range uses {
		if o := &p.plan.Outputs[i]; o.Physical == kernels.ParquetBytes && o.Form != kernels.ParquetInline {
			return true
		}
	}
	return false
}

// addPage adds a page that begins with a row of the parcel.
func (p *Parcel) addPage(from *parquetio.EncodedPage, base, first int) {
	to := kernels.ParquetPage{
		At: uint64(base + from.At), Bytes: uint32(from.Bytes), Size: uint32(from.Size),
		Levels: uint32(from.Levels), Rows: uint32(from.Rows), First: uint32(first),
	}
	if from.Levels == parquetio.SizedLevels {
		to.Levels = kernels.ParquetSizedLevels
	}
	if from.Coded {
		to.Coded = 1
	}
	if from.Snappy {
		to.Snappy, to.Expanded = 1, uint64(p.expanded)
		p.expanded += kernels.ParquetSnappyRoom(from.Size, from.Bytes)
	}
	p.pages = append(p.pages, to)
}

// entries writes what the entries of a dictionary are in an output's arrays.
func (p *Packer) entries(d *Parcel, t *kernels.ParquetTask, values *column.Vector) parcel.Added {
	o := &p.plan.Outputs[t.Output]
	d.data = align(d.data)
	t.Entries, t.Count = uint64(d.data), uint32(values.Len)
	bytes := values.Len * int(arraysOf(&o.ParquetOutput)) * 8
	if bytes > p.limits.Bytes-d.data {
		return p.noRoom()
	}
	to := p.memory[d.data:]
	d.data += bytes
	if o.Form == kernels.ParquetValue {
		if values.Type.IsFloat() {
			put(to, values.Float)
		} else {
			put(to, values.Int)
		}
		return parcel.AddedUnit
	}
	words, hash, ok := p.keys.TranslateDict(o.Field, values)
	if !ok {
		return parcel.AddedNone
	}
	for _, w := range words {
		to = put(to, w)
	}
	put(to, hash)
	return parcel.AddedUnit
}
