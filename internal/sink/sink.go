// Package sink writes results: batches of Arrow records go in, a document in
// one of the output formats comes out.
//
//	Create ─▶ File ────────┐                 (file.go, target.go, fs.go)
//	                       ▼
//	NewWriter(format, io.Writer, schema) ─▶ Write(record)… ─▶ Close ─▶ File.Commit
//	      │
//	      ├─ csv, tsv, json, ndjson, markdown, table: rows.go turns a record into
//	      │  vectors, text.go gives each column a function that appends the text of a row; the format
//	      │  adds quotes and separators, and compress.go may compress it
//	      ├─ arrow: IPC, as a file or as a stream
//	      └─ parquet: parquet.go and the files beside it
//
// Many files in folders: partitioned.go cuts a document, tree.go makes its files appear together.
//
// It knows nothing of flags or queries. The trap: Close ends the document but
// neither closes nor commits the writer below it; a File that is not committed
// never appears.
package sink

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// Format names an output format.
type Format string

// The output formats.
const (
	Parquet  Format = "parquet"
	CSV      Format = "csv"
	TSV      Format = "tsv"
	JSON     Format = "json"   // one array of objects
	NDJSON   Format = "ndjson" // one object a line
	Arrow    Format = "arrow"  // Arrow IPC
	Markdown Format = "markdown"
	Table    Format = "table" // for a terminal
	None     Format = "none"  // every batch is dropped, for measuring
)

// Formats lists every format, in the order of the documentation.
var Formats = []Format{Parquet, CSV, TSV, JSON, NDJSON, Arrow, Markdown, Table, None}

// ParseFormat returns the format named s, in any letter case.
func ParseFormat(s string) (Format, error) {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		if strings.EqualFold(s, string(f)) {
			return f, nil
		}
		names[i] = string(f)
	}
	return "", fmt.Errorf("unknown format %q; use one of %s", s, strings.Join(names, ", "))
}

var formatsByExtension = map[string]Format{
	".parquet": Parquet, ".pq": Parquet, ".parq": Parquet,
	".csv": CSV, ".tsv": TSV, ".tab": TSV,
	".json": JSON, ".ndjson": NDJSON, ".jsonl": NDJSON,
	".arrow": Arrow, ".arrows": Arrow, ".feather": Arrow, ".ipc": Arrow,
	".md": Markdown, ".markdown": Markdown, ".txt": Table,
}

// FormatForPath returns the format that the extension of path stands for, without the extension
// of a compression; false if it stands for none.
func FormatForPath(path string) (Format, bool) {
	_, rest := CompressionForPath(path)
	f, ok := formatsByExtension[strings.ToLower(filepath.Ext(rest))]
	return f, ok && (rest == path || f.IsText())
}

// Extension is that of files of the format, compressed or not, with its point.
func (f Format) Extension(compression string) string {
	ext := "." + string(f)
	switch f {
	case Markdown:
		ext = ".md"
	case Table:
		ext = ".txt"
	}
	for packed, name := range compressionsByExtension {
		if f.IsText() && name == compression {
			ext += packed
		}
	}
	return ext
}

// Writer turns records into a document. All records have the schema that the
// writer was made with. A writer is for one goroutine; it keeps no reference
// to a record after Write.
type Writer interface {
	// Write adds the rows of a record. After an error the document cannot be
	// finished, and every later Write returns the same error.
	Write(arrow.Record) error
	// Close ends the document (a closing bracket, a footer). It does not
	// close the io.Writer. After an error, and a second time, it does nothing.
	Close() error
}

// Options are the settings of all formats; each format takes what concerns it.
type Options struct {
	// Null is the text of NULL in CSV and TSV, written without quotes. A
	// value with the same text is written in quotes.
	Null string
	// Compression of Parquet: snappy (also the default, ""), zstd, gzip,
	// brotli, none. Of text: gzip, zstd, none (also the default).
	Compression string
	// Memory is about how many bytes a writer of Parquet or of a table may hold: row groups
	// and pages are made accordingly, and rows shown. 0: 384 MiB, or 512.
	Memory int64
	// Sorted is the columns that the rows are sorted by, for Parquet to say so.
	Sorted []SortColumn
	// FlushBytes is after how many bytes text is handed on; 0: 256 KiB.
	FlushBytes int
	// GroupBytes is about how many bytes a row group of Parquet has at most; 0: 128 MiB, or what
	// Memory says.
	GroupBytes int64
	// Width is the number of terminal columns that a table may take; 0: any.
	Width int
	// MaxRows is how many rows a table shows before it only counts; 0: all. They are
	// held until Close, since the widest value makes the column; of all rows, some at a time are.
	MaxRows int
	// Bar is the column of a table of which bars are drawn beside its numbers; empty: none.
	Bar string
	// Stream makes Arrow output an IPC stream, which a reader takes from a
	// pipe, in place of an IPC file, which needs seeking.
	Stream bool
	// CreatedBy is the name of the writing program in Parquet files; default
	// "gagg".
	CreatedBy string
}

// SortColumn is a column that rows are sorted by.
type SortColumn struct {
	Name       string
	Descending bool
	NullsFirst bool
}

// NewWriter returns a writer of format f to w. Nothing is buffered past
// Close. The error is about a column type that has no output form, or about
// an option.
func NewWriter(f Format, w io.Writer, schema *arrow.Schema, o Options) (Writer, error) {
	below := io.WriteCloser(uncompressedText{w})
	if f.IsText() {
		var err error
		if below, err = compressor(w, o.Compression); err != nil {
			return nil, err
		}
	}
	document, err := newWriter(f, below, schema, o)
	if err != nil {
		return nil, err
	}
	return &guarded{document: document, below: below}, nil
}

func newWriter(f Format, w io.Writer, schema *arrow.Schema, o Options) (Writer, error) {
	switch f {
	case None:
		return discard{}, nil
	case Arrow:
		return newArrowWriter(w, schema, o)
	}
	rows, err := newRowReader(schema)
	if err != nil {
		return nil, err
	}
	switch f {
	case Parquet:
		return newParquetWriter(w, rows, o)
	case CSV:
		return newCSVWriter(w, rows, ',', o), nil
	case TSV:
		return newCSVWriter(w, rows, '\t', o), nil
	case JSON:
		return newJSONWriter(w, rows, true, o), nil
	case NDJSON:
		return newJSONWriter(w, rows, false, o), nil
	case Markdown:
		return newMarkdownWriter(w, rows, o), nil
	case Table:
		return newTableWriter(w, rows, o)
	}
	return nil, fmt.Errorf("unknown format %q", f)
}

// flushBytes is after how many bytes text is handed on.
func (o Options) flushBytes() int { return cmp.Or(o.FlushBytes, flushAt) }

// guarded keeps the part of Writer's promise that concerns errors, for all
// formats.
type guarded struct {
	document Writer
	below    io.Closer // what it is written to
	err      error     // the first
	closed   bool
}

func (g *guarded) Write(rec arrow.Record) error {
	if g.err != nil {
		return g.err
	}
	if w, ok := g.document.(largeWriter); ok {
		g.err = writeRows(w, rec)
	} else {
		g.err = g.document.Write(rec)
	}
	return g.err
}

func (g *guarded) Close() error {
	if g.err != nil || g.closed {
		return nil
	}
	g.closed = true
	if err := g.document.Close(); err != nil {
		return err
	}
	return g.below.Close()
}

type discard struct{}

func (discard) Write(arrow.Record) error { return nil }
func (discard) Close() error             { return nil }
