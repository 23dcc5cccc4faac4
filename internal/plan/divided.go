package plan

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/query"
)

// This file is keys that devices cannot compute, or that take the CPU long. Devices group by what
// they can compute of them, and by a distinct value if there is one, and the CPU makes the keys of
// these groups, in place of those of each row. Without a device the CPU does the same where that is
// faster (docs/decisions/0039).

// Divided is the keys of a query, divided in two.
type Divided struct {
	Parts  []*expr.Expr // what devices group by: of the keys, and then the value
	Layout *key.Layout  // of these
	Keys   []*expr.Expr // the keys of the query, over batches of their parts
	AtMost int64        // groups by the parts that there can be; -1: not known
}

// divide divides the keys, if devices cannot compute all of them, and their groups may become those
// of a run by other keys; else it returns nil.
func (p *planner) divide() *Divided {
	if p.Options.Device.Kind == device.CPU || p.Options.NoGPUDecoding {
		return nil
	}
	return p.divideKeys()
}

// mayPart reports whether the CPU may group by parts of the keys.
func (p *planner) mayPart() bool {
	return len(p.Sets) == 0 && !p.States(nil, false, nil).HasChains()
}

// partKeys has the CPU group by parts of the keys, if that is predicted to be faster.
func (p *planner) partKeys() {
	if !p.mayPart() {
		return
	}
	if p.Divided == nil {
		p.cuts = p.hasCuts()
		if p.Divided = p.divideKeys(); p.Divided == nil {
			return
		}
	}
	s := p.sample(p.Divided.Parts)
	if !s.ok {
		return
	}
	f := DeviceFacts{
		Rows: p.Facts.Rows, Threads: p.Threads, Groups: s.groups, Keyed: s.keyed, RowSize: p.deviceRow(p.States(nil, false, nil)),
		Sampled: true, Selectivity: s.selectivity, Computing: s.computing, ByParts: s.byParts,
	}
	for _, e := range p.Divided.Parts {
		if c, ok := e.Column(); ok && e.Type().Rep() == column.RepBytes {
			if length, known := p.scan.TextLength(c); !known || length > key.MaxInline {
				f.Stored += f.Rows
			}
		}
	}
	room := p.Memory.Worker == 0 || s.groups*float64(f.RowSize)*partsRoom < float64(p.Memory.Worker)
	p.Parted = room && p.Options.Tuning.Costs.partsPay(f)
}

// partsRoom is how many times as much memory as groups by parts of the keys take a worker has at
// least, so that neither they nor those by the keys leave it.
const partsRoom = 16

// divideKeys is divide for devices and the CPU.
func (p *planner) divideKeys() *Divided {
	_, limited := p.HashLimit() // rows are left out by the hash of the keys, which is not known yet
	q := p.Query
	switch {
	case limited:
		return nil
	case q.Mode != query.Whole, p.Counted, len(q.Distinct) > 1, len(q.Groupings) > 0, !slices.ContainsFunc(q.Keys, p.isDivided):
		return nil
	case len(p.DeviceStates().DeviceLists()) > 0:
		return nil
	}
	parts, rest, ok := expr.Divide(q.Keys, func(e *expr.Expr) bool { return !p.isDivided(e) }, p.isCut)
	if !ok || len(parts) == 0 {
		return nil
	}
	columns := make([]key.Column, len(parts))
	for i, e := range parts {
		columns[i] = p.keyColumn(e)
	}
	for _, s := range p.Sets {
		parts, columns = append(parts, q.Args[s.Arg]), append(columns, s.nullable())
	}
	if p.manyParts(parts) {
		return nil
	}
	d := &Divided{Parts: parts, Keys: rest, AtMost: p.atMostBy(parts)}
	d.Layout = key.NewLayout(columns)
	return d
}

// defaultMostParts is the part of the rows that groups by parts of the keys may be: of each of
// these the CPU computes the keys as it does of a row, and groups it by them.
const defaultMostParts = 1. / 4

// manyParts reports whether there are too many groups by parts of the keys. Where nothing tells,
// two parts that may have a value for each row are too many, unless a device is asked for.
func (p *planner) manyParts(parts []*expr.Expr) bool {
	rows := float64(p.Facts.Rows)
	groups, unknown := 1.0, 0
	for _, e := range parts {
		n := expectedDistinct(e, p.Facts.Rows, p.scan)
		if groups *= n; n >= rows {
			unknown++
		}
	}
	most := rows * p.Options.Tuning.MostParts
	if groups <= most {
		return false
	}
	if s := p.sample(parts); s.ok {
		return s.groups > most
	}
	return unknown > 1 && !p.Options.Device.Required()
}

// isDivided reports whether devices are to group by parts of a key: it is neither a column nor
// operations on words, nor is it made of a few entries of dictionaries, of which workers compute it
// while they read.
func (p *planner) isDivided(e *expr.Expr) bool {
	if _, plain := e.Column(); plain || e.OnWords() || p.isCut(e) {
		return false
	}
	in, single := e.OfEntries()
	return !single || !p.fewEntries(in.Column)
}

// fewEntries reports whether a column is a few entries of dictionaries: of these workers compute
// what a key is while they read.
func (p *planner) fewEntries(c int) bool {
	n := p.scan.DictEntries(c)
	return p.scan.DictAll(c) && n >= 0 && n <= fewInternEntries
}

// cutOf is the parts of texts that a key is, if devices take them out of the texts
// (docs/decisions/0036).
func (p *planner) cutOf(e *expr.Expr) (in expr.Input, ok bool) {
	in, ok = e.Cut()
	return in, ok && p.cuts && !p.fewEntries(in.Column)
}

// isCut reports whether devices take what a key is out of texts.
func (p *planner) isCut(e *expr.Expr) bool {
	_, ok := p.cutOf(e)
	return ok
}

// hasCuts reports whether a key or a distinct value is made of parts of texts.
func (p *planner) hasCuts() bool {
	return slices.ContainsFunc(p.Query.Keys, (*expr.Expr).HasCut) ||
		slices.ContainsFunc(p.Query.Distinct, func(arg int) bool { return p.Query.Args[arg].HasCut() })
}
