package parquetio

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// TableSchema is the columns of a table whose format keeps them apart from its files, as Delta Lake
// does. A file may lack some of them, which are NULL there, may have columns that are none of the
// table, and may call them otherwise.
type TableSchema struct {
	Fields []TableField
	// ByID finds the columns of a file by the field ids in its schema, not by name.
	ByID bool
	// IDsOf is the field ids of a column by its path, in files whose schema has none; its answer
	// nil: the table has no such column. nil: such files cannot be read.
	IDsOf func(path []string) []int32
}

// TableField is a column of a table.
type TableField struct {
	Path   []string // its name: of a field of a struct with the names of those around it
	Type   column.Type
	Stored []string // the names in files
	IDs    []int32  // the field ids in files, if they are found so
	// Constant says that no file has the column: Input.Values has it.
	Constant bool
	Err      error // why its values cannot be read; nil: they can
}

// Deleted is rows of a file that are not of its table.
type Deleted interface {
	// Left appends to sel which of n rows from a row of the file on are left, counted from there.
	Left(first int64, n int, sel []int32) []int32
}

// declare makes the columns of a table those of a schema.
func (t *table) declare(s *TableSchema) {
	t.declared, t.byStored = s, map[string]int{}
	for i := range s.Fields {
		f := &s.Fields[i]
		t.cols = append(t.cols, tableColumn{
			name: strings.Join(f.Path, "."), path: f.Path, typ: f.Type, hive: i, always: f.Constant, typeOf: -1, err: f.Err,
		})
		switch {
		case f.Constant || f.Err != nil:
		case s.ByID:
			t.byStored[idKey(f.IDs)] = i
		default:
			t.byStored[pathKey(f.Stored)] = i
		}
	}
}

func idKey(ids []int32) string { return fmt.Sprint(ids) }

// declaredColumn is the column of a leaf, -1 if the table has none, with the type that the leaf has
// in the table.
func (t *table) declaredColumn(l *leaf) int {
	key := pathKey(l.path)
	if t.declared.ByID {
		key = idKey(l.ids)
	}
	c, ok := t.byStored[key]
	if !ok {
		return -1
	}
	return c
}

const uuidBytes = 16

// identify gives the leaves of a file ids, if the table finds columns by them and the file has
// none.
func (t *table) identify(leaves []leaf) error {
	switch {
	case !t.declared.ByID || slices.ContainsFunc(leaves, func(l leaf) bool { return l.ids != nil }):
		return nil
	case t.declared.IDsOf == nil:
		return errors.New("its columns have no field ids, by which the table finds them, and the table does not say what their names stand for; not supported")
	}
	for i := range leaves {
		leaves[i].ids = t.declared.IDsOf(leaves[i].path)
	}
	return nil
}

// adapt gives leaves types that files cannot say: INT96 and old annotations leave it open whether
// times are of UTC, and some writers leave texts and UUIDs without an annotation.
func (t *table) adapt(leaves []leaf) {
	for i := range leaves {
		l := &leaves[i]
		c := t.declaredColumn(l)
		if c < 0 {
			continue
		}
		want := t.cols[c].typ
		switch {
		case l.typ.Kind == want.Kind && (want.Kind == column.Timestamp || want.Kind == column.Time):
			l.typ.UTC = want.UTC
		case l.typ.Kind == column.FixedBinary && l.length == uuidBytes && want.Kind == column.UUID:
			l.typ = want
		case l.typ.Kind == column.Binary && want.Kind == column.String && l.physical == format.ByteArray:
			l.typ = want
		}
	}
}

// addDeclared checks a leaf against the column of the table that it holds, and returns that.
func (t *table) addDeclared(file string, l *leaf) int {
	c := t.declaredColumn(l)
	if c < 0 {
		return -1
	}
	col := &t.cols[c]
	switch {
	case l.err != nil:
		col.err = l.err
	case !widens(l.typ, col.typ) && col.clash == nil:
		col.clash = &Error{File: file, RowGroup: -1, Column: col.name, Err: fmt.Errorf("type %s, where the table says %s", l.typ, col.typ)}
	}
	return c
}

// tableConstants is, by column of the schema of a table, its value in each file that lacks it.
func tableConstants(s *TableSchema, files []Input) []hiveColumn {
	cols := make([]hiveColumn, len(s.Fields))
	for i := range s.Fields {
		cols[i] = hiveColumn{name: strings.Join(s.Fields[i].Path, "."), typ: s.Fields[i].Type, values: make([]column.Value, len(files))}
		for n := range files {
			v := column.Value{Type: cols[i].typ, Null: true}
			if i < len(files[n].Values) && files[n].Values[i].Type == cols[i].typ {
				v = files[n].Values[i]
			}
			cols[i].values[n] = v
		}
	}
	return cols
}
