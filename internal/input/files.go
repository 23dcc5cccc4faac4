package input

import (
	"context"
	"io"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Files reads Parquet files: paths, globs (** and {a,b} too) and directories
// with all Parquet files below them. Names like year=2024 in their paths
// become columns. Many files are one table, columns matched by name.
func Files(paths ...string) Source { return fileSource(paths) }

type fileSource []string

func (s fileSource) Open(ctx context.Context, o Options, from budget.Lender) (Input, error) {
	if len(s) == 0 {
		return nil, usagef("no input: name a Parquet file, a directory or a glob")
	}
	inputs := make([]parquetio.Input, len(s))
	for i, p := range s {
		inputs[i].Path = p
	}
	return openParquet(ctx, inputs, o, from)
}

// ListFiles tells which files a source of Files with these paths reads.
func ListFiles(ctx context.Context, paths ...string) ([]string, error) {
	return parquetio.List(ctx, paths)
}

// Parquet reads one Parquet file of size bytes from r; errors call it name.
func Parquet(name string, r io.ReaderAt, size int64) Source {
	return readerSource{Name: name, Reader: r, Size: size}
}

type readerSource parquetio.Input

func (s readerSource) Open(ctx context.Context, o Options, from budget.Lender) (Input, error) {
	return openParquet(ctx, []parquetio.Input{parquetio.Input(s)}, o, from)
}

func openParquet(ctx context.Context, inputs []parquetio.Input, o Options, from budget.Lender) (Input, error) {
	d, err := parquetio.Open(ctx, inputs, parquetio.Options{
		Limits: parquetio.Limits{Budget: from}, UnionByName: o.UnionByName, BatchRows: o.BatchRows,
	})
	if err != nil {
		return nil, err
	}
	return &parquetInput{d}, nil
}

type parquetInput struct{ d *parquetio.Dataset }

func (p *parquetInput) Schema() column.Schema         { return p.d.Schema() }
func (p *parquetInput) Find(name string) (int, error) { return p.d.Find(name) }
func (p *parquetInput) Widen(digits map[int]int)      { p.d.Widen(digits) }
func (p *parquetInput) Close() error                  { return p.d.Close() }

func (p *parquetInput) sizes() Description {
	var d Description
	for _, f := range p.d.Files() {
		d.Files++
		d.Rows += f.Rows
		d.RowGroups += f.RowGroups
		d.Bytes += f.Bytes
	}
	return d
}

func (p *parquetInput) Scan(o parquetio.ScanOptions) (Scan, error) {
	s, err := p.d.Scan(o)
	if err != nil {
		return nil, err
	}
	return &parquetScan{s, s.Units()}, nil
}

// parquetScan is a scan of Parquet files: most of it is that of package parquetio as it is.
type parquetScan struct {
	*parquetio.Scan
	list []parquetio.Unit
}

func (p *parquetScan) Units() int               { return len(p.list) }
func (p *parquetScan) UnitBytes(unit int) int64 { return p.list[unit].Bytes }
func (p *parquetScan) Reader() cpu.Reader       { return p.NewReader() }
func (p *parquetScan) Rereadable() bool         { return true }

func (p *parquetScan) Split(workers int, least int64) {
	p.Scan.Split(workers, least)
	p.list = p.Scan.Units()
}

func (p *parquetScan) Facts() (f Facts) {
	for i := range p.list {
		f.Rows += p.list[i].Rows
		f.Bytes += p.list[i].Bytes
	}
	groups, rows, bytes := p.Skipped()
	f.SkippedGroups, f.SkippedRows, f.SkippedBytes = int64(groups), rows, bytes
	return f
}
