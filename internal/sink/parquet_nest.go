package sink

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// parquetField is a column of the result in the file. A scalar has one leaf,
// the column itself. Lists and maps have the three levels of the standard:
//
//	optional group x (LIST) {            optional group x (MAP) {
//	  repeated group list {                repeated group key_value {
//	    optional T element;                  required T key;
//	  }                                      optional int64 value;
//	}                                      }
//	                                     }
//
// A leaf below holds slots: one for each element, and one for each row that
// has none. The levels of a slot tell what it is:
//
//	repetition   0 the first slot of a row, 1 a further one
//	definition   0 the row is NULL, 1 it is empty, else an element: 2 of a
//	             required leaf, 3 of an optional one
//
// A page may end within a row, as it may in pages of version 1.
type parquetField struct {
	schema []format.SchemaElement
	leaves []*parquetColumn

	// of lists and maps: the slots at hand
	nested bool
	elems  column.Vector // the keys of a map
	counts column.Vector
	rows   []int32 // of Elem, by slot
	null   []bool  // the slot is of a row without elements
	first  []uint8 // 0: the first slot of a row; the repetition level
	kind   []uint8

	buf, countBuf column.Buffer
}

// Kinds of slots. They are definition levels but for the last, whose level
// is a matter of the leaf.
const (
	slotNull = iota
	slotEmpty
	slotElement
)

func newParquetField(f column.Field, codec compress.Codec, room *parquetRoom) *parquetField {
	elem := column.Field{Name: f.Name, Type: f.Type.Elem()}
	s := storageOf(elem.Type)
	leaf := newParquetColumn(elem, s, codec, room)
	p := &parquetField{leaves: []*parquetColumn{leaf}, nested: f.Type.IsNested()}
	switch f.Type.Nest {
	case column.List:
		leaf.nestIn("list", "element", 3)
		p.schema = append(groups(f.Name, "list", &format.ListType{}, deprecated.List, 1),
			s.element(column.Field{Name: "element", Type: elem.Type}, format.Optional))
	case column.Map:
		leaf.nestIn("key_value", "key", 2)
		count := column.Field{Name: f.Name, Type: column.Type{Kind: column.Int64}}
		counts := newParquetColumn(count, storageOf(count.Type), codec, room)
		counts.nestIn("key_value", "value", 3)
		p.leaves = append(p.leaves, counts)
		p.schema = append(groups(f.Name, "key_value", &format.MapType{}, deprecated.Map, 2),
			s.element(column.Field{Name: "key", Type: elem.Type}, format.Required),
			counts.storage.element(column.Field{Name: "value", Type: count.Type}, format.Optional))
	default:
		p.schema = []format.SchemaElement{s.element(f, format.Optional)}
	}
	return p
}

// nestIn makes c a leaf below a repeated group, whose elements have the
// definition level top.
func (c *parquetColumn) nestIn(group, name string, top uint8) {
	c.path = append(c.path, group, name)
	c.nest = &levels{top: top}
}

// groups are the two groups above the leaves.
func groups(name, repeated string, logical format.LogicalTypeValue, old deprecated.ConvertedType, leaves int32) []format.SchemaElement {
	return []format.SchemaElement{
		{
			Name: name, RepetitionType: thrift.New(format.Optional), NumChildren: thrift.New[int32](1),
			ConvertedType: thrift.New(old), LogicalType: format.LogicalType{Value: logical},
		},
		{Name: repeated, RepetitionType: thrift.New(format.Repeated), NumChildren: thrift.New(leaves)},
	}
}

// size is how much memory the chunks take so far.
func (p *parquetField) size() (n int64) {
	for _, c := range p.leaves {
		n += c.size()
	}
	return n
}

// add appends the rows from..to of v.
func (p *parquetField) add(v *column.Vector, from, to int) error {
	if !p.nested {
		return p.leaves[0].add(v, from, to)
	}
	for i := from; i < to; i++ {
		if err := p.addRow(v, i); err != nil {
			return err
		}
	}
	return p.addSlots(v)
}

// addRow makes the slots of row i, and hands them on whenever they are many.
func (p *parquetField) addRow(v *column.Vector, i int) error {
	begin, end := v.Range(i)
	switch {
	case v.IsNull(i):
		p.slot(0, 0, slotNull)
	case begin == end:
		p.slot(0, 0, slotEmpty)
	}
	for j := begin; j < end; j++ {
		p.slot(j, min(j-begin, 1), slotElement)
		if len(p.rows) >= pageRows {
			if err := p.addSlots(v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parquetField) slot(row, further int, kind uint8) {
	p.rows = append(p.rows, int32(row))
	p.null = append(p.null, kind != slotElement)
	p.first = append(p.first, uint8(further))
	p.kind = append(p.kind, kind)
}

// addSlots puts the slots at hand into the leaves.
func (p *parquetField) addSlots(v *column.Vector) error {
	p.gather(v)
	for i, c := range p.leaves {
		values := &p.elems
		if i == 1 {
			values = &p.counts
		}
		c.nest.first, c.nest.kind = p.first, p.kind
		if err := c.add(values, 0, values.Len); err != nil {
			return err
		}
	}
	p.clearSlots()
	return nil
}

func (p *parquetField) clearSlots() {
	p.rows, p.null, p.first, p.kind = p.rows[:0], p.null[:0], p.first[:0], p.kind[:0]
}

// gather sets elems and counts to the values of the slots. Those without an
// element have any value, which nothing looks at.
func (p *parquetField) gather(v *column.Vector) {
	elems, counts := v.Elem, column.Vector{Type: column.Type{Kind: column.Int64}, Int: v.Counts}
	if elems == nil || elems.Len == 0 {
		elems, counts.Int = anyValue(v.Type.Elem()), []int64{0}
	}
	p.elems = column.Gather(elems, p.rows, &p.buf)
	p.elems.Null = p.null
	if v.Type.Nest == column.Map {
		p.counts = column.Gather(&counts, p.rows, &p.countBuf)
		p.counts.Null = p.null
	}
}

// anyValue is a vector of one row.
func anyValue(t column.Type) *column.Vector {
	return &column.Vector{
		Type: t, Len: 1, Int: make([]int64, 1), Float: make([]float64, 1), Wide: make([]decimal256.Num, 1),
		Span: make([]column.Span, 1), Data: make([]byte, 0, column.SpanPadding),
	}
}

// cutLists returns the row up to which the lists from row `from` on hold
// rowGroupRows elements, at most to.
func cutLists(v *column.Vector, from, to int) int {
	elems := 0
	for i := from; i < to; i++ {
		begin, end := v.Range(i)
		if elems += end - begin; elems > rowGroupRows && i > from {
			return i
		}
	}
	return to
}

// levels are those of the slots of the open page of a leaf.
type levels struct {
	top         uint8   // the definition level of an element
	first, kind []uint8 // of the slots that are being added

	repetition, definition []uint8
	scratch                []byte
}

func (l *levels) size() int {
	if l == nil {
		return 0
	}
	return len(l.repetition) + len(l.definition)
}

// moveToPage moves the levels of the next n slots to the page.
func (l *levels) moveToPage(n int) {
	if l == nil {
		return
	}
	l.repetition = append(l.repetition, l.first[:n]...)
	for _, kind := range l.kind[:n] {
		if kind == slotElement {
			kind = l.top
		}
		l.definition = append(l.definition, kind)
	}
	l.first, l.kind = l.first[n:], l.kind[n:]
}

// appendTo writes the levels, each kind with its length before it, and
// begins a new page.
func (l *levels) appendTo(dst []byte) ([]byte, error) {
	for _, part := range []struct {
		bits   int
		values []uint8
	}{{1, l.repetition}, {2, l.definition}} {
		var err error
		if l.scratch, err = (&rle.Encoding{BitWidth: part.bits}).EncodeLevels(l.scratch[:0], part.values); err != nil {
			return dst, err
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(l.scratch)))
		dst = append(dst, l.scratch...)
	}
	l.repetition, l.definition = l.repetition[:0], l.definition[:0]
	return dst, nil
}
