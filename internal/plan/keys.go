package plan

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/key"
)

const (
	// maxInternEntries is the largest dictionary whose strings are numbered
	// rather than held in the key: beyond it, numbering costs a cache miss
	// for each entry and the numbers save little.
	maxInternEntries = 64 << 10
	// fewInternEntries is the largest dictionary whose strings are always numbered; those of a
	// larger one are numbered if internRepeats of them are in another dictionary too. Numbering
	// takes a look-up in a table that all workers share for each entry of each dictionary, and
	// saves comparing strings for each row: with 2.6 % in common it takes twice the time, with all
	// in common a third (docs/experiments/0015).
	fewInternEntries = 4 << 10
	internRepeats    = .5

	// maxInlineText is the length of texts up to which keys hold them themselves: longer ones make
	// rows of more than a cache line. Where they lie in an arena, each takes 24 bytes more, and a
	// cache miss or two whenever it is compared (docs/experiments/0015).
	maxInlineText = 55
)

// Set is a distinct value as it stands in a grouping by the keys and itself: what a query with
// aggregates of distinct values groups by beside its keys, and so one whose values are counted
// (Plan.Counted). Package cpu says how the aggregates are made of that (internal/cpu/distinct.go,
// regroup.go).
type Set struct {
	Arg    int // of which argument
	Value  key.Column
	Layout *key.Layout // the keys, then the value
	AtMost int64       // groups that there can be; -1: not known

	// Shared is the keys of sets that all workers share: one for each grouping set, or one.
	Shared []cpu.SetKeys
}

// setKeys is the keys of a grouping.
func (p *Plan) setKeys(s Set) []*expr.Expr {
	return append(slices.Clone(p.Query.Keys), p.Query.Args[s.Arg])
}

// placeKeys chooses the form of each key, and of what is grouped by beside them.
func (p *planner) placeKeys() {
	p.KeyColumns = make([]key.Column, len(p.Query.Keys))
	for i, e := range p.Query.Keys {
		p.KeyColumns[i] = p.keyColumn(e)
	}
	for _, arg := range p.Query.Distinct {
		value := p.keyColumn(p.Query.Args[arg])
		value.Filled = true
		p.Sets = append(p.Sets, Set{Arg: arg, Value: value})
	}
	p.layOut()
}

// layOut places the keys in words.
func (p *planner) layOut() {
	for i, filled := range p.Filled.Keys {
		p.KeyColumns[i].Filled = filled && p.inAll(i)
	}
	p.Layout = key.NewLayout(p.KeyColumns)
	for i := range p.Sets {
		s := &p.Sets[i]
		s.Layout, s.Shared = key.NewLayout(append(slices.Clone(p.KeyColumns), s.Value)), nil
		for _, has := range p.rowSets() {
			s.Shared = append(s.Shared, p.sharedKeys(s.Value, has))
		}
		if s.Shared == nil {
			s.Shared = []cpu.SetKeys{{Layout: s.Layout, Columns: cpu.AllColumns(len(p.KeyColumns) + 1)}}
		}
	}
}

// rowSets is the sets of keys that rows are grouped by; none: one set, of all keys.
func (p *planner) rowSets() [][]bool { return p.Query.Groupings[:p.Query.RowSets()] }

// inAll reports whether key i is in all grouping sets: it is NULL where one leaves it out.
func (p *planner) inAll(i int) bool {
	return !slices.ContainsFunc(p.rowSets(), func(has []bool) bool { return i < len(has) && !has[i] })
}

// sharedKeys is the keys that a grouping set has, and a distinct value.
func (p *planner) sharedKeys(value key.Column, has []bool) (out cpu.SetKeys) {
	var cols []key.Column
	for i := range has {
		if has[i] {
			c := p.KeyColumns[i]
			c.Filled = len(p.Filled.Keys) > 0 && p.Filled.Keys[i]
			cols, out.Columns = append(cols, c), append(out.Columns, i)
		}
	}
	out.Layout, out.Columns = key.NewLayout(append(cols, value)), append(out.Columns, len(p.KeyColumns))
	return out
}

// Regroups reports whether devices group by other keys than the query: by the keys and a distinct
// value, or by parts of the keys (Divided), or by these and a value. Their groups are then grouped
// by the keys. Where values are counted, the CPU does the same.
func (p *Plan) Regroups() bool { return len(p.Query.Distinct) > 0 || p.Divided != nil }

// DeviceKeys is the keys that devices group by, and the CPU where values are counted.
func (p *Plan) DeviceKeys() *key.Layout {
	switch {
	case p.Divided != nil:
		return p.Divided.Layout
	case !p.Regroups():
		return p.Layout
	}
	return key.NewLayout(append(slices.Clone(p.KeyColumns), p.Sets[0].nullable()))
}

// nullable is the value where rows come of which it is NULL.
func (s *Set) nullable() key.Column {
	value := s.Value
	value.Filled = false
	return value
}

// DeviceExprs is what these keys are computed from.
func (p *Plan) DeviceExprs() []*expr.Expr {
	switch {
	case p.Divided != nil:
		return p.Divided.Parts
	case !p.Regroups():
		return p.Query.Keys
	}
	return p.setKeys(p.Sets[0])
}

// deviceText is the text of key i of devices.
func (p *Plan) deviceText(i int) string {
	switch keys := len(p.Query.Keys); {
	case p.Divided != nil && i < len(p.Divided.Parts)-len(p.Sets):
		return "a part of the keys"
	case p.Divided == nil && i < keys:
		return p.Query.KeyTexts[i]
	}
	return p.Query.ArgTexts[p.Sets[0].Arg]
}

// omitHashes has rows have no hash where that can be made of their keys.
func (p *planner) omitHashes() {
	p.Layout.OmitHash()
	for i := range p.Sets {
		p.Sets[i].Layout.OmitHash()
	}
}

// keyColumn is the form of an expression as a key.
func (p *planner) keyColumn(e *expr.Expr) key.Column {
	k := key.Column{Type: e.Type()}
	if c, ok := e.Column(); ok && e.Type().Rep() == column.RepBytes {
		k.Intern = p.interns(c)
		if n, ok := p.scan.TextLength(c); ok && n <= maxInlineText && !k.Intern {
			k.Inline = n
		}
	}
	return k
}

// internShare is the greatest part of the memory limit that the strings of a key
// may have to be numbered: numbered strings stay in memory until the end.
const internShare = 32

// interns reports whether the strings of column c of the scan are numbered
// when they are a key.
func (p *planner) interns(c int) bool {
	n := p.scan.DictEntries(c)
	if !p.scan.DictAll(c) || n < 0 || n > maxInternEntries {
		return false
	}
	if p.Options.MemoryLimit > 0 {
		if bytes := p.scan.DictBytes(c); bytes < 0 || bytes >= p.Options.MemoryLimit/internShare {
			return false
		}
	}
	if n <= fewInternEntries {
		return true
	}
	share, ok := p.scan.DictRepeats(c)
	return !ok || share >= internRepeats
}
