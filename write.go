package gagg

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/exec"
	"github.com/gagg-dev/gagg/internal/sink"
)

// Format is a format that results are written in: those of the command.
type Format = sink.Format

// The formats of Write and WriteFile.
const (
	FormatParquet  = sink.Parquet
	FormatCSV      = sink.CSV
	FormatTSV      = sink.TSV
	FormatJSON     = sink.JSON   // one array of objects
	FormatNDJSON   = sink.NDJSON // one object a line
	FormatArrow    = sink.Arrow  // Arrow IPC: a stream, or a file where it goes to one
	FormatMarkdown = sink.Markdown
	FormatTable    = sink.Table // for people
)

// Output says how a result is written. The zero value is a good choice.
type Output struct {
	// Format is the format; "": that of a file's extension, or else CSV.
	Format Format
	// Compression is of Parquet: snappy (also ""), zstd, gzip, brotli or none; and of text: gzip,
	// zstd or none. With "" text is compressed as a file's name says: x.csv.gz, x.ndjson.zst.
	Compression string
	// Null is the text of NULL in CSV and TSV.
	Null string
	// Memory is about how many bytes Parquet and tables may take as they are written, beside
	// Options.MemoryLimit; 0: 384 MiB, or 512.
	Memory int64
	// Width is how many columns of a terminal a table may take, and Rows how many rows of it are
	// shown before the others are only counted; 0: any.
	Width, Rows int
}

// Write writes the rows that are left of a result, or of any Arrow records, as one document to w,
// in the text forms of docs/semantics.md. Nothing is written before the first record is there. rows
// stay the caller's to release. An error of the rows is returned as it is; one of w unwraps to w's;
// a type that the format has no form for, and an Output that makes no sense, are an [ErrUsage]. Of
// a document that could not be finished w may have a part.
func Write(ctx context.Context, w io.Writer, rows array.RecordReader, o Output) error {
	if o.Format == "" {
		o.Format = FormatCSV
	}
	return write(ctx, w, rows, o, true)
}

// WriteFile is Write to a file, which appears at path whole or not at all: it grows beside it under
// another name, and what was there before is replaced at the end. A pipe or a device at path gets
// the bytes as they come.
func WriteFile(ctx context.Context, path string, rows array.RecordReader, o Output) error {
	compression, rest := sink.CompressionForPath(path)
	if o.Format == "" {
		var ok bool
		if o.Format, ok = sink.FormatForPath(path); !ok {
			return exec.Usagef("%s: the extension stands for no format: name one", path)
		}
	}
	if o.Compression == "" && rest != path && o.Format.IsText() {
		o.Compression = compression
	}
	f, err := sink.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(ctx, f, rows, o, f.IsStream()); err != nil {
		return err
	}
	return f.Commit()
}

func write(ctx context.Context, w io.Writer, rows array.RecordReader, o Output, stream bool) error {
	options := sink.Options{
		Null: o.Null, Compression: o.Compression, Memory: o.Memory, Width: o.Width, MaxRows: o.Rows, Stream: stream, CreatedBy: "gagg",
	}
	if r, ok := rows.(*Rows); ok {
		for _, by := range r.Sorted() {
			options.Sorted = append(options.Sorted, sink.SortColumn(by))
		}
	}
	var refused error
	err := sink.WriteAll(ctx, rows, func(schema *arrow.Schema) (made sink.Writer, err error) {
		made, refused = sink.NewWriter(o.Format, w, schema, options)
		return made, refused
	})
	if refused != nil && errors.Is(err, refused) {
		return exec.Usagef("%w", refused)
	}
	return err
}
