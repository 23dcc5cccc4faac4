package sink

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/column"
)

// Partition says how a document is cut into the files of a Tree.
type Partition struct {
	// By names columns. Rows with the same values are in one folder, k=1/region=north, as Hive has
	// it, and the files in it do not have these columns. Rows come in order of them.
	By []string
	// Size: a file that has as many bytes is closed and another one begun; 0: no limit. Text
	// reaches a file 256 KiB at a time, or an eighth of Size if that is less, and Parquet by row
	// groups of a quarter of Size: files may be longer by so much.
	Size int64
	// Extension is that of the files, with its point.
	Extension string
}

// partitioned writes records to the files of a tree, one at a time. Its rows come in order of
// the columns that it cuts by, so that no folder is entered twice, and as many may be as there are
// values.
type partitioned struct {
	tree    *Tree
	format  Format
	options Options
	Partition

	columns []int         // those to cut by, by number
	by      *arrow.Schema // of those
	rest    *arrow.Schema // of all others
	keys    *rowReader    // of the columns to cut by
	value   []appender

	folder []byte // of the open file, or of the last one
	next   []byte // scratch: of a row
	files  int    // in the folder
	file   *TreeFile
	writer Writer // to file; nil: none is open
}

// sizedRows is after how many rows the size of a file is looked at.
const sizedRows = 4 << 10

// groupsOfSize is the least number of row groups of a Parquet file of a given size: its size is
// known only after each is written.
const groupsOfSize = 4

// Text of a file of a given size reaches it in so many pieces at least, but for small ones.
const (
	flushesOfSize = 8
	leastFlush    = 1 << 10
)

// NewPartitionedWriter returns a writer of records of the schema to files of the tree. Close ends
// the last file; the caller commits the tree after that. The error is about a column, or an
// option.
func NewPartitionedWriter(f Format, tree *Tree, schema *arrow.Schema, p Partition, o Options) (Writer, error) {
	w := &partitioned{tree: tree, format: f, options: o, Partition: p}
	var rest []arrow.Field
	for i, field := range schema.Fields() {
		if !slices.Contains(p.By, field.Name) {
			rest = append(rest, field)
			continue
		}
		if err := checkPartition(field); err != nil {
			return nil, err
		}
		w.columns = append(w.columns, i)
	}
	if len(rest) == 0 {
		return nil, columnErrorf("no column is left to write: cut by fewer")
	}
	// The first column that By names is the outermost folder.
	place := func(c int) int { return slices.Index(p.By, schema.Field(c).Name) }
	slices.SortStableFunc(w.columns, func(a, b int) int { return place(a) - place(b) })
	keys := make([]arrow.Field, len(w.columns))
	for i, c := range w.columns {
		keys[i] = schema.Field(c)
	}
	w.by, w.rest = arrow.NewSchema(keys, nil), arrow.NewSchema(rest, nil)
	var err error
	if w.keys, err = newRowReader(w.by); err != nil {
		return nil, err
	}
	for _, f := range w.keys.fields {
		_, value := formOf(f.Type)
		w.value = append(w.value, value)
	}
	w.options.Sorted = slices.DeleteFunc(slices.Clone(o.Sorted), func(s SortColumn) bool { return slices.Contains(p.By, s.Name) })
	if p.Size > 0 {
		w.options.GroupBytes = max(p.Size/groupsOfSize, 1)
		w.options.FlushBytes = int(min(max(p.Size/flushesOfSize, leastFlush), flushAt))
	}
	return &guarded{document: w, below: uncompressedText{}}, nil
}

// checkPartition refuses columns whose values cannot be names, or do not come back from names as
// the same values.
func checkPartition(f arrow.Field) error {
	t, err := column.FromArrowField(f)
	if err != nil {
		return err
	}
	switch form, _ := formOf(t); {
	case form == nested, form == float, t.Kind == column.Binary, t.Kind == column.FixedBinary, t.Kind == column.Interval:
		return columnErrorf("cannot cut by column %q: a folder is not named after values of type %s", f.Name, t)
	}
	return nil
}

// Write adds the rows of a record, each run of rows of one folder by itself.
func (w *partitioned) Write(rec arrow.Record) error {
	key := array.NewRecord(w.by, pick(rec, w.columns), rec.NumRows())
	defer key.Release()
	n, err := w.keys.read(key)
	if err != nil {
		return err
	}
	rest := array.NewRecord(w.rest, omit(rec, w.columns), rec.NumRows())
	defer rest.Release()
	for from := 0; from < n; {
		to, err := w.enter(from, n)
		if err != nil {
			return err
		}
		if err := w.writeRows(rest, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// enter makes the folder of row from the open one, and returns up to which row it is that of the
// rows that follow.
func (w *partitioned) enter(from, n int) (to int, err error) {
	w.next = w.appendFolder(w.next[:0], from)
	if !bytes.Equal(w.next, w.folder) || w.files == 0 {
		if err := w.closeFile(); err != nil {
			return 0, err
		}
		w.folder, w.next, w.files = w.next, w.folder, 0
	}
	// Rows are in order, so that those of one folder are together.
	more := sort.Search(n-from-1, func(i int) bool {
		w.next = w.appendFolder(w.next[:0], from+1+i)
		return !bytes.Equal(w.next, w.folder)
	})
	return from + 1 + more, nil
}

// writeRows writes rows of the open folder.
func (w *partitioned) writeRows(rest arrow.Record, from, to int) error {
	for from < to {
		end := to
		if w.Size > 0 {
			end = from + w.someRows(rest, from, min(to, from+sizedRows))
		}
		if err := w.openFile(); err != nil {
			return err
		}
		if err := writeSlice(w.writer.Write, rest, from, end); err != nil {
			return err
		}
		if w.Size > 0 && w.file.Size() >= w.Size {
			if err := w.closeFile(); err != nil {
				return err
			}
		}
		from = end
	}
	return nil
}

// someRows is how many of some rows are written before the size of the file is looked at: of text
// those that reach it together.
func (w *partitioned) someRows(rest arrow.Record, from, to int) int {
	if !w.format.IsText() {
		return to - from
	}
	bytes := max(rowBytes(rest, from, to), 1)
	return int(min(max(int64(to-from)*int64(w.options.FlushBytes)/bytes, 1), int64(to-from)))
}

// openFile opens the next file of the folder, unless one is open.
func (w *partitioned) openFile() (err error) {
	if w.writer != nil {
		return nil
	}
	w.file, err = w.tree.Create(fmt.Sprintf("%spart-%05d%s", w.folder, w.files, w.Extension))
	if err != nil {
		return err
	}
	w.files++
	w.writer, err = NewWriter(w.format, w.file, w.rest, w.options)
	return err
}

// closeFile ends the open file, if there is one.
func (w *partitioned) closeFile() error {
	if w.writer == nil {
		return nil
	}
	err := w.writer.Close()
	w.writer = nil
	if err != nil {
		return err
	}
	return w.file.Close()
}

// Close ends the last file. A table of no rows is one file if nothing cuts it by its values.
func (w *partitioned) Close() error {
	if len(w.columns) == 0 && w.files == 0 {
		if err := w.openFile(); err != nil {
			return err
		}
	}
	return w.closeFile()
}

// appendFolder appends the folder of a row: k=1/region=north/.
func (w *partitioned) appendFolder(dst []byte, row int) []byte {
	for c, f := range w.keys.fields {
		dst = append(appendFolderName(dst, []byte(f.Name)), '=')
		if v := &w.keys.vectors[c]; v.IsNull(row) {
			dst = append(dst, hiveNull...)
		} else {
			dst = appendFolderValue(dst, w.value[c](nil, v, row))
		}
		dst = append(dst, '/')
	}
	return dst
}

// hiveNull is a NULL in the name of a folder.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// appendFolderValue appends a value that is not NULL.
func appendFolderValue(dst, value []byte) []byte {
	if string(value) == hiveNull {
		dst, value = append(dst, "%5F"...), value[1:]
	}
	return appendFolderName(dst, value)
}

// appendFolderName appends s. Characters with a meaning in names of folders, or in patterns of
// them, become %XX: the same ones as in Hive and Spark.
func appendFolderName(dst, s []byte) []byte {
	for _, c := range s {
		if c < ' ' || c == 0x7f || bytes.IndexByte([]byte(`"#%'*/:=?\{}[]^`), c) >= 0 {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

const upperHex = "0123456789ABCDEF"

// pick is the columns of those numbers.
func pick(rec arrow.Record, columns []int) (cols []arrow.Array) {
	for _, c := range columns {
		cols = append(cols, rec.Column(c))
	}
	return cols
}

// omit is the other columns.
func omit(rec arrow.Record, columns []int) (cols []arrow.Array) {
	for c, col := range rec.Columns() {
		if !slices.Contains(columns, c) {
			cols = append(cols, col)
		}
	}
	return cols
}
