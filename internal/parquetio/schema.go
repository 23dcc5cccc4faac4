package parquetio

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// tableColumn is a column of all files together: the leaves of the same path
// in the schemas of the files, or a key of the folder names.
type tableColumn struct {
	name string
	path []string
	nth  int // 0 for the first leaf of this path in a file, 1 for its duplicate, ...
	typ  column.Type
	form column.Form // that all files agree on

	hive int // index among the columns with a value for each file; -1: it has none
	// that value counts, and no file is read for it; else it counts in files without the column
	always bool
	seenIn int   // the first file that has it
	typeOf int   // the file that the type comes from
	err    error // why it cannot be read, in at least one file
	clash  error // which files disagree about the type
}

// table is the schema of all files together. Files are distinguished by their
// layout, the list of their leaves: ten thousand files of one writer have a
// single one.
type table struct {
	cols    []tableColumn
	layouts []layout

	byKey  map[columnKey]int
	byHash map[uint64][]int // layouts
	seed   maphash.Seed

	declared *TableSchema   // nil: files have the columns
	byStored map[string]int // of a declared table: columns by their names or ids in files
}

type layout struct {
	leaves []leaf
	cols   []int // by leaf: its column; -1: it is none of the table
}

type columnKey struct {
	path string
	nth  int
}

func newTable() *table {
	return &table{byKey: map[columnKey]int{}, byHash: map[uint64][]int{}, seed: maphash.MakeSeed()}
}

// add takes a file into the table and returns the number of its layout.
func (t *table) add(files []*dataFile, i int) int {
	leaves := files[i].leaves
	h := t.hash(leaves)
	for _, l := range t.byHash[h] {
		if sameLeaves(t.layouts[l].leaves, leaves) {
			return l
		}
	}
	l := layout{leaves: leaves, cols: make([]int, len(leaves))}
	seen := map[string]int{}
	for k := range leaves {
		if t.declared != nil {
			l.cols[k] = t.addDeclared(files[i].name, &leaves[k])
			continue
		}
		path := pathKey(leaves[k].path)
		l.cols[k] = t.addLeaf(files, i, &leaves[k], columnKey{path, seen[path]})
		seen[path]++
	}
	t.layouts = append(t.layouts, l)
	t.byHash[h] = append(t.byHash[h], len(t.layouts)-1)
	return len(t.layouts) - 1
}

// addLeaf finds or makes the column of a leaf and brings their types together.
func (t *table) addLeaf(files []*dataFile, i int, lf *leaf, key columnKey) int {
	c, ok := t.byKey[key]
	if !ok {
		c = len(t.cols)
		t.byKey[key] = c
		t.cols = append(t.cols, tableColumn{
			name: lf.name, path: lf.path, nth: key.nth,
			typ: lf.typ, form: lf.form, hive: -1, seenIn: i, typeOf: i, err: lf.err,
		})
		return c
	}
	col := &t.cols[c]
	if col.form != lf.form {
		col.form = column.NoForm
	}
	switch common, ok := commonType(col.typ, lf.typ); {
	case lf.err != nil:
		if col.err == nil {
			col.err = lf.err
		}
	case col.err != nil:
		// Its type means nothing.
	case !ok:
		if col.clash == nil {
			col.clash = &Error{
				File: files[i].name, RowGroup: -1, Column: col.name,
				Err: fmt.Errorf("type %s does not agree with %s in %s", lf.typ, col.typ, files[col.typeOf].name),
			}
		}
	case common != col.typ:
		col.typ, col.typeOf = common, i
	}
	return c
}

// addHive takes the keys of the folder names into the table. A key replaces
// the column of that name in the files.
func (t *table) addHive(hive []hiveColumn) {
	for i, h := range hive {
		col := tableColumn{name: h.name, path: []string{h.name}, typ: h.typ, hive: i, always: true}
		if c, ok := t.byKey[columnKey{pathKey(col.path), 0}]; ok {
			t.cols[c] = col
			continue
		}
		t.cols = append(t.cols, col)
	}
}

// leavesOf gives, for each of the wanted columns, the leaf that holds it in
// the files of a layout, -1 where there is none.
func (t *table) leavesOf(l int, wanted []int) []int {
	leaf := make(map[int]int, len(wanted))
	for _, c := range wanted {
		leaf[c] = -1
	}
	for k, c := range t.layouts[l].cols {
		if _, ok := leaf[c]; ok && !t.cols[c].always {
			leaf[c] = k
		}
	}
	out := make([]int, len(wanted))
	for i, c := range wanted {
		out[i] = leaf[c]
	}
	return out
}

// pathKey is a path as one string. Names may hold any byte, so lengths and
// not separators keep the parts apart.
func pathKey(path []string) string {
	if len(path) == 1 {
		return path[0]
	}
	var key []byte
	for _, p := range path {
		key = fmt.Appendf(key, "\x00%d:%s", len(p), p)
	}
	return string(key)
}

func (t *table) hash(leaves []leaf) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	for i := range leaves {
		maphash.WriteComparable(&h, leaves[i].name)
		maphash.WriteComparable(&h, leaves[i].typ)
		maphash.WriteComparable(&h, leaves[i].form)
	}
	return h.Sum64()
}

func sameLeaves(a, b []leaf) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.name != y.name || len(x.path) != len(y.path) || x.typ != y.typ || x.form != y.form || (x.err == nil) != (y.err == nil) || !slices.Equal(x.ids, y.ids) {
			return false
		}
		for k := range x.path {
			if x.path[k] != y.path[k] {
				return false
			}
		}
	}
	return true
}
