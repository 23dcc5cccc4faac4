package gagg

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/exec"
	"github.com/gagg-dev/gagg/internal/input"
)

// Source is what a query reads: Files, Parquet or Records.
type Source interface{ source() input.Source }

// source is a Source.
type source struct{ input.Source }

func (s source) source() input.Source { return s.Source }

// Files reads Parquet files: paths, globs (** and {a,b} too) and directories
// with all Parquet files below them. Names like year=2024 in their paths
// become columns. Many files are one table, columns matched by name.
func Files(paths ...string) Source { return source{input.Files(paths...)} }

// Parquet reads one Parquet file of size bytes from r; errors call it name.
func Parquet(name string, r io.ReaderAt, size int64) Source {
	return source{input.Parquet(name, r, size)}
}

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
func Describe(ctx context.Context, src Source, o Options) (_ *Description, err error) {
	defer func() { err = exec.Classify(err) }()
	in, err := src.source().Open(ctx, input.Options{UnionByName: o.UnionByName, BatchRows: o.BatchRows}, nil)
	if err != nil {
		return nil, err
	}
	all := input.Describe(in)
	d := Description{Files: all.Files, Rows: all.Rows, RowGroups: all.RowGroups, Bytes: all.Bytes}
	for _, c := range all.Columns {
		d.Columns = append(d.Columns, ColumnDescription(c))
	}
	return &d, errors.Join(in.Close())
}
