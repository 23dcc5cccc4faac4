package expr

import (
	"slices"
	"weak"

	"github.com/gagg-dev/gagg/internal/column"
)

// A strict expression over one dictionary-coded column is computed on the
// entries of the dictionary; the rows keep their codes, and get a new Dict.
// It is made once for each Dict that comes by, so its identity is as good a
// key for the consumers' caches as that of the column.

// cachedDicts is how many translated dictionaries a step keeps. A worker
// reads one row group at a time, a few more cover tables of small files.
const cachedDicts = 4

// entryFactor is how many times the rows of a batch a dictionary may have
// entries to be translated at first sight. A larger one is translated when
// it comes a second time, the first such one when entryLater times the rows that came
// with it are as many as its entries: behind a filter they may be few. Guesses.
const (
	entryFactor = 2
	entryLater  = 4
)

type entryCache struct {
	eval  *Eval           // computes the node on entries
	cols  []column.Vector // columns of the batch of entries: all empty but one
	list  [cachedDicts]translation
	next  int    // place in list for the next one
	large dictID // passed over at first sight
	rows  int    // that came with it
	pays  bool   // of a large dictionary there were many rows
}

// dictID tells dictionaries from one another, and keeps none: their strings may be a large part of the memory.
type dictID = weak.Pointer[column.Dict]

// translation is a dictionary and what became of it.
type translation struct {
	from dictID
	to   *column.Dict // nil: an entry fails; rows are computed one by one
	null []bool       // entries that became NULL; nil: none
}

// byEntry computes the node through its column's dictionary, if it can.
func (s *step) byEntry() (bool, error) {
	n := s.node
	if !n.nullIn || n.single < 0 {
		return false, nil
	}
	v := &s.eval.batch.Cols[n.single]
	if v.Dict == nil {
		return false, nil
	}
	t := s.translation(v)
	if t == nil || t.to == nil {
		return false, nil
	}
	s.res = column.Vector{Type: n.typ, Len: v.Len, Null: v.Null, Codes: v.Codes, Dict: t.to}
	if t.null != nil {
		s.f.nulls = sized(s.f.nulls, v.Len)
		for i, c := range v.Codes {
			s.f.nulls[i] = t.null[c] || v.IsNull(i)
		}
		s.res.Null = s.f.nulls
	}
	return true, nil
}

// translation finds or makes the translation of v's dictionary; nil if that
// does not pay yet.
func (s *step) translation(v *column.Vector) *translation {
	c := s.entries
	if c == nil {
		c = &entryCache{eval: newEval(s.node), cols: make([]column.Vector, s.node.single+1)}
		s.entries = c
	}
	id := weak.Make(v.Dict)
	for i := range c.list {
		if c.list[i].from == id {
			return &c.list[i]
		}
	}
	if v.Dict.Len() > entryFactor*v.Len && c.waits(id, v) {
		return nil
	}
	t := &c.list[c.next]
	c.next = (c.next + 1) % cachedDicts
	*t = c.translate(s.node, v)
	return t
}

// waits reports whether a large dictionary is not translated yet: at first sight, and the first one until as many rows have come
// as make up for it.
func (c *entryCache) waits(id dictID, v *column.Vector) bool {
	if c.large != id {
		c.large, c.rows = id, v.Len
		return true
	}
	c.rows += v.Len
	c.pays = c.pays || entryLater*c.rows >= v.Dict.Len()
	return !c.pays
}

// translate computes the node on the entries of v's dictionary. An error
// may come from an entry that no row has, so it only ends the attempt.
func (c *entryCache) translate(n *bound, v *column.Vector) translation {
	in := v.Dict.Values
	in.Type = v.Type
	c.cols[n.single] = in
	c.eval.begin(&column.Batch{Rows: in.Len, Cols: c.cols})
	out, err := c.eval.root.flat()
	c.cols[n.single] = column.Vector{}
	if err != nil {
		return translation{from: weak.Make(v.Dict)}
	}
	t := translation{from: weak.Make(v.Dict), to: &column.Dict{Values: clone(out)}}
	if slices.Contains(out.Null, true) {
		t.null = slices.Clone(out.Null)
	}
	return t
}

// clone copies a flat vector, less its NULL flags.
func clone(v *column.Vector) column.Vector {
	out := column.Vector{
		Type: v.Type, Len: v.Len,
		Int: slices.Clone(v.Int), Float: slices.Clone(v.Float), Wide: slices.Clone(v.Wide), Span: slices.Clone(v.Span),
	}
	if v.Type.Rep() == column.RepBytes {
		out.Data = append(make([]byte, 0, len(v.Data)+column.SpanPadding), v.Data...)
	}
	return out
}
