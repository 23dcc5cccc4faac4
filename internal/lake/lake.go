// Package lake has what formats of tables share that keep the list of a table's files beside them:
// Delta Lake, Apache Iceberg. The package of a format reads that list, of a version of a table, out
// of a Store, and leaves out files that the query's filter rules out; it reads no data. Package
// input reads the files.
package lake

import (
	"context"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Store has the files of a table.
type Store interface {
	// Open opens a file, by its path from the table's folder on, with slashes, or one at an
	// absolute path or URL.
	Open(ctx context.Context, path string) (in parquetio.Input, done func(), err error)
}

// Table is a table at a version.
type Table struct {
	Schema parquetio.TableSchema
	Files  []File // by path
	Left   Left   // what the filter rules out, and is not among Files
}

// File is a file of a table.
type File struct {
	Path   string // relative to the table's folder, or absolute
	Size   int64
	Values []column.Value // by field: its value where the file has no column for it; empty: NULL
	// ReadDeleted reads which rows are deleted; nil: none are.
	ReadDeleted func(ctx context.Context) (*Rows, error)
}

// Left is what a query need not read, by what the table says of it.
type Left struct{ Files, Rows, Bytes int64 }

// Excludes makes a test of what a query rules out, by bounds of columns by their place among
// fields, which may be called concurrently; nil, or a test that is nil: nothing is.
type Excludes func(fields []parquetio.TableField) func(bounds func(i int) column.Bounds) bool

// Filter is a test of files of a table, and what it has left out.
type Filter struct {
	Left     Left
	excludes func(bounds func(i int) column.Bounds) bool
}

// Filter makes the test of a table with these fields.
func (e Excludes) Filter(fields []parquetio.TableField) *Filter {
	f := &Filter{}
	if e != nil {
		f.excludes = e(fields)
	}
	return f
}

// Active reports whether the test can leave out anything.
func (f *Filter) Active() bool { return f.excludes != nil }

// Excludes reports whether the test rules out all rows within bounds.
func (f *Filter) Excludes(bounds func(i int) column.Bounds) bool {
	return f.excludes != nil && f.excludes(bounds)
}

// Leave counts files that are left out. Rows that are not known are below 0.
func (f *Filter) Leave(files, rows, bytes int64) {
	f.Left.Files += files
	f.Left.Rows += max(rows, 0)
	f.Left.Bytes += bytes
}
