package expr

import (
	"slices"
	"unsafe"
	"weak"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// An expression over one dictionary-coded column is computed on the entries of
// the dictionary; the rows keep their codes, and get a new Dict. It is made once
// for each Dict that comes by, so its identity is as good a key for the consumers'
// caches as that of the column. Of an expression that is not strict, coalesce say,
// the new Dict has one more entry: that of NULL.

// cachedDicts is how many translated dictionaries a step keeps, of up to smallDict entries, and
// beside them the last larger one. A worker reads one row group at a time, whose dictionary does
// not come again; a few more cover tables of small files.
const (
	cachedDicts = 4
	smallDict   = 4 << 10
)

// entryStep is how many entries are computed at a time, so that what is computed on the way stays
// small.
const entryStep = 4 << 10

// entryFactor is how many times the rows of a batch a dictionary may have entries to be translated
// at first sight. A larger one is translated when it comes a second time, the first such one when
// entryLater times the rows that came with it are as many as its entries: behind a filter they may
// be few. An entry costs about as much as a row: one that is translated in vain costs twice what
// its rows do, once.
const (
	entryFactor = 2
	entryLater  = 4
)

type entryCache struct {
	eval  *Eval           // computes the node on entries
	cols  []column.Vector // columns of the batch of entries: all empty but one
	ended column.Vector   // entries with NULL behind them
	list  [cachedDicts]translation
	next  int         // place in list for the next one
	large translation // of more than smallDict entries
	first dictID      // passed over at first sight, being large for its rows
	rows  int         // that came with it
	pays  bool        // of such a dictionary there were many rows
}

// dictID tells dictionaries from one another, and keeps none: their strings may be a large part of
// the memory.
type dictID = weak.Pointer[column.Dict]

// translation is a dictionary and what became of it. Its memory serves the next one, when nobody
// may look at the rows of this one any more.
type translation struct {
	from   dictID
	to     *column.Dict  // nil: an entry fails; rows are computed one by one
	null   []bool        // entries that became NULL; nil: none
	values column.Vector // to's
	nulls  []bool        // null's
	// texts that are a part of those of the dictionary stay there: values.Data is lent, and data is
	// the memory for others
	lent bool
	data []byte
}

// byEntry computes the node through its column's dictionary, if it can.
func (s *step) byEntry() (bool, error) {
	n := s.node
	if n.single < 0 {
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
	if !n.nullIn && v.Null != nil {
		s.f.codes = sized(s.f.codes, v.Len)
		ofNull := int32(v.Dict.Len())
		for i, c := range v.Codes {
			if v.Null[i] {
				c = ofNull
			}
			s.f.codes[i] = c
		}
		s.res.Codes, s.res.Null = s.f.codes, nil
	}
	if t.null != nil {
		s.f.nulls = sized(s.f.nulls, v.Len)
		for i, c := range s.res.Codes {
			s.f.nulls[i] = t.null[c] || s.res.IsNull(i)
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
	if t := c.find(id); t != nil {
		return t
	}
	if v.Dict.Len() > entryFactor*v.Len && c.waits(id, v) {
		return nil
	}
	t := &c.large
	if v.Dict.Len() <= smallDict {
		t = &c.list[c.next]
		c.next = (c.next + 1) % cachedDicts
	}
	t.from = id
	c.translate(s.node, v, t)
	return t
}

// find returns the translation of a dictionary; nil: there is none.
func (c *entryCache) find(id dictID) *translation {
	if c.large.from == id {
		return &c.large
	}
	for i := range c.list {
		if c.list[i].from == id {
			return &c.list[i]
		}
	}
	return nil
}

// waits reports whether a large dictionary is not translated yet: at first sight, and the first one
// until as many rows have come as make up for it.
func (c *entryCache) waits(id dictID, v *column.Vector) bool {
	if c.first != id {
		c.first, c.rows = id, v.Len
		return true
	}
	c.rows += v.Len
	c.pays = c.pays || entryLater*c.rows >= v.Dict.Len()
	return !c.pays
}

// translate computes the node on the entries of v's dictionary. An error
// may come from an entry that no row has, so it only ends the attempt.
func (c *entryCache) translate(n *bound, v *column.Vector, t *translation) {
	in := v.Dict.Values
	in.Type = v.Type
	if !n.nullIn {
		in = c.withNull(&in)
		defer func() { c.ended.Data = nil }() // of the dictionary nothing is kept
	}
	step := entryStep
	if n.typ.Rep() == column.RepBytes {
		step = in.Len // it may point into bytes of all entries
	}
	t.empty()
	for at := 0; at < in.Len; at += step {
		c.cols[n.single] = in.Slice(at, min(at+step, in.Len))
		c.eval.begin(&column.Batch{Rows: c.cols[n.single].Len, Cols: c.cols})
		out, err := c.eval.root.flat()
		c.cols[n.single] = column.Vector{}
		if err != nil {
			return
		}
		t.add(out, &in)
	}
	t.to = &column.Dict{Values: t.values}
	if slices.Contains(t.nulls, true) {
		t.null = t.nulls
	}
}

// withNull returns the entries with NULL behind them.
func (c *entryCache) withNull(v *column.Vector) column.Vector {
	e := &c.ended
	e.Type, e.Len, e.Data = v.Type, v.Len+1, v.Data
	switch v.Type.Rep() {
	case column.RepInt64:
		e.Int = append(append(e.Int[:0], v.Int...), 0)
	case column.RepFloat64:
		e.Float = append(append(e.Float[:0], v.Float...), 0)
	case column.RepWide:
		e.Wide = append(append(e.Wide[:0], v.Wide...), decimal256.Num{})
	case column.RepBytes:
		e.Span = append(append(e.Span[:0], v.Span...), column.Span{})
	}
	e.Null = sized(e.Null, e.Len)
	clear(e.Null)
	e.Null[v.Len] = true
	return *e
}

// empty forgets the entries.
func (t *translation) empty() {
	d := &t.values
	if t.lent {
		d.Data, t.lent, t.data = t.data, false, nil
	}
	d.Int, d.Float, d.Wide, d.Span, d.Data = d.Int[:0], d.Float[:0], d.Wide[:0], d.Span[:0], d.Data[:0]
	d.Len, t.nulls, t.to, t.null = 0, t.nulls[:0], nil, nil
}

// add adds the entries of a flat vector, which are made of those of a dictionary; of texts, all at
// once.
func (t *translation) add(v, of *column.Vector) {
	d, all := &t.values, of.Len
	switch v.Type.Rep() {
	case column.RepInt64:
		d.Int = append(roomFor(d.Int, all), v.Int[:v.Len]...)
	case column.RepFloat64:
		d.Float = append(roomFor(d.Float, all), v.Float[:v.Len]...)
	case column.RepWide:
		d.Wide = append(roomFor(d.Wide, all), v.Wide[:v.Len]...)
	case column.RepBytes:
		d.Span = append(roomFor(d.Span, all), v.Span[:v.Len]...)
		if len(v.Data) > 0 && unsafe.SliceData(v.Data) == unsafe.SliceData(of.Data) {
			t.lent, t.data, d.Data = true, d.Data, v.Data
		} else {
			d.Data = append(roomFor(d.Data, len(v.Data)+column.SpanPadding), v.Data...)
		}
	}
	if v.Null != nil || len(t.nulls) > 0 {
		had := len(t.nulls)
		t.nulls = slices.Grow(t.nulls, all-had)[:d.Len+v.Len]
		clear(t.nulls[had:d.Len])
		for i := range v.Len {
			t.nulls[d.Len+i] = v.IsNull(i)
		}
	}
	d.Type, d.Len = v.Type, d.Len+v.Len
}

// roomFor returns s with room for n elements in all. Dictionaries of a column have nearly the same
// size: new memory has room for an eighth more.
func roomFor[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s
	}
	return append(make([]T, 0, n+n/8), s...)
}
