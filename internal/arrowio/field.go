package arrowio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// field is a column, or a part of one, as its buffers lie in a record.
type field struct {
	arrow.Field
	dict     int64 // the id of its dictionary; noDictionary
	children []field
	wanted   bool // it, or a part of it, is read
}

const noDictionary = -1

// columns pairs fields of the library with those of the schema's own form, which alone tells the
// ids of dictionaries: the vector that is field n of a table.
func (f *flat) columns(of []arrow.Field, table, n int) ([]field, error) {
	all := make([]field, len(of))
	at, count, err := f.structs(table, n, 4)
	if err != nil || count != len(of) {
		return nil, errSchema
	}
	for i := range of {
		column, err := f.offset(at + 4*i)
		if err != nil {
			return nil, err
		}
		if all[i], err = f.column(of[i], column); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (f *flat) column(of arrow.Field, table int) (c field, err error) {
	c = field{Field: of, dict: noDictionary}
	encoding, coded, err := f.field(table, fieldDictionary)
	if err != nil {
		return c, err
	}
	if coded {
		c.dict, err = f.scalar(encoding, encodingID, 8)
		return c, err // its children, if it has any, are the dictionary's
	}
	if nested, ok := storage(of.Type).(arrow.NestedType); ok {
		c.children, err = f.columns(nested.Fields(), table, fieldChildren)
	}
	return c, err
}

// storage is what a type is stored as.
func storage(t arrow.DataType) arrow.DataType {
	if e, ok := t.(arrow.ExtensionType); ok {
		return storage(e.StorageType())
	}
	return t
}

// buffers is how many a column has in a record, those of its children not counted; of old versions
// of the format unions have one more.
func (c *field) buffers() (int, error) {
	t := storage(c.Type)
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.IndexType
	}
	switch t.ID() {
	case arrow.NULL, arrow.RUN_END_ENCODED:
		return 0, nil
	case arrow.STRUCT, arrow.FIXED_SIZE_LIST, arrow.SPARSE_UNION:
		return 1, nil
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return 3, nil
	case arrow.LIST, arrow.LARGE_LIST, arrow.MAP, arrow.DENSE_UNION:
		return 2, nil
	}
	if _, ok := t.(arrow.FixedWidthDataType); ok {
		return 2, nil
	}
	return 0, fmt.Errorf("column %q: %s; not supported, and what stands behind it cannot be found", c.Name, t)
}

// Projection is the wanted leaves of a file's columns, and the schema of records that have no
// others.
type Projection struct {
	Schema *arrow.Schema
	fields []field
}

// Project returns the projection on leaves, each the numbers of the columns on the way to it. The
// leaves of its schema are these, in the order of the file.
func (f *File) Project(leaves [][]int) *Projection {
	p := &Projection{fields: clone(f.fields)}
	for _, path := range leaves {
		want(p.fields, path)
	}
	p.Schema = arrow.NewSchema(wantedFields(p.fields), nil)
	return p
}

func clone(fields []field) []field {
	all := make([]field, len(fields))
	for i, c := range fields {
		all[i] = c
		all[i].children = clone(c.children)
	}
	return all
}

func want(fields []field, path []int) {
	c := &fields[path[0]]
	c.wanted = true
	if len(path) > 1 {
		want(c.children, path[1:])
	}
}

// wantedFields are the wanted parts of columns. A struct has none but these.
func wantedFields(fields []field) (wanted []arrow.Field) {
	for i := range fields {
		c := &fields[i]
		if !c.wanted {
			continue
		}
		if _, ok := c.Type.(*arrow.StructType); ok {
			c.Type = arrow.StructOf(wantedFields(c.children)...)
		}
		wanted = append(wanted, c.Field)
	}
	return wanted
}
