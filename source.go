package gagg

import (
	"context"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/exec"
	"github.com/gagg-dev/gagg/internal/input"
)

// Source is what a query reads: Files, Parquet or Records.
type Source interface{ source() input.Source }

// source is a Source.
type source struct{ input.Source }

func (s source) source() input.Source { return s.Source }

// Files reads Parquet or Arrow IPC files: paths, globs (** and {a,b} too) and directories
// with all Parquet files below them. Names like year=2024 in their paths
// become columns. Many files are one table, columns matched by name. A path may be a FIFO: see
// Stream. http://, https:// and file:// URLs are paths too.
func Files(paths ...string) Source { return source{input.Files(paths...)} }

// Parquet reads one Parquet file of size bytes from r; errors call it name.
func Parquet(name string, r io.ReaderAt, size int64) Source {
	return source{input.Parquet(name, r, size)}
}

// Stream reads a Parquet file, an Arrow IPC file or an Arrow IPC stream from r, told by its first
// bytes. It is read once. An Arrow stream is read as it comes. A file goes to Options.TempDir
// first, within Options.TempLimit, as it is read from its end; but an *os.File that is one is
// read as it is. Errors call it name. What is blocked in r may outlive a run whose context ended.
func Stream(name string, r io.Reader) Source { return source{input.Stream(name, r)} }

// Records reads Arrow records. They are read once: a query from them cannot
// be run a second time. The caller keeps the reader and releases it after
// the run.
func Records(r array.RecordReader) Source { return source{input.Records(r)} }

// ListFiles tells which files a source of Files with these paths reads.
func ListFiles(ctx context.Context, paths ...string) ([]string, error) {
	files, err := input.ListFiles(ctx, paths...)
	return files, exec.Classify(err)
}

// Description is what an input holds.
type Description struct {
	Columns   []ColumnDescription `json:"columns"`
	Files     int                 `json:"files"`
	Rows      int64               `json:"rows"` // -1: not known
	RowGroups int                 `json:"row_groups"`
	Bytes     int64               `json:"bytes"` // size of the files
}

// ColumnDescription is a column of an input.
type ColumnDescription struct {
	Name string `json:"name"`
	Type string `json:"type"`            // "" if the column cannot be read
	Err  string `json:"error,omitempty"` // why it cannot be read
}

// Describe tells the columns and sizes of an input.
func Describe(ctx context.Context, src Source, o Options) (*Description, error) {
	all, err := exec.Describe(ctx, src.source(), o.exec())
	if err != nil {
		return nil, err
	}
	return described(all), nil
}

// Head tells the columns and sizes of an input, as Describe does, and reads its first n rows, or as
// many as there are: all columns that can be read. The caller releases the record.
func Head(ctx context.Context, src Source, n int, o Options) (*Description, arrow.Record, error) {
	all, rec, err := exec.Head(ctx, src.source(), n, o.exec())
	if err != nil {
		return nil, nil, err
	}
	return described(all), rec, nil
}

func described(all input.Description) *Description {
	d := Description{Files: all.Files, Rows: all.Rows, RowGroups: all.RowGroups, Bytes: all.Bytes}
	for _, c := range all.Columns {
		d.Columns = append(d.Columns, ColumnDescription(c))
	}
	return &d
}
