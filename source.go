package gagg

import (
	"context"
	"io"
	"io/fs"
	"iter"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/exec"
	"github.com/gagg-dev/gagg/internal/input"
)

// Source is what a query reads: one of the functions below makes it.
//
// Some sources call what a program has made: a reader, a file system, an iterator. An error of it
// ends the run with an [ErrInput] that unwraps to it, by a [SourceError]. Where it blocks when the
// context ends the run returns all the same, and leaves behind the one goroutine that waits within
// it, which Go has no way to interrupt; it ends with the call. A channel leaves none.
type Source interface{ source() input.Source }

// source is a Source.
type source struct{ input.Source }

func (s source) source() input.Source { return s.Source }

// Files reads Parquet or Arrow IPC files: paths, globs (** and {a,b} too) and directories
// with all Parquet files below them. Names like year=2024 in their paths
// become columns. Many files are one table, columns matched by name. A path may be a FIFO: see
// Stream. http://, https:// and file:// URLs are paths too.
func Files(paths ...string) Source { return source{input.Files(paths...)} }

// FS reads files of fsys by the rules of Files: paths, globs and folders, with columns of names
// like year=2024. Some of the files are open at once. A file that is no io.ReaderAt, as in a ZIP
// archive, goes to Options.TempDir first, within Options.TempLimit.
func FS(fsys fs.FS, paths ...string) Source { return source{input.FS(fsys, paths...)} }

// Reader is a Parquet or Arrow IPC file of Size bytes in a reader that several goroutines may use.
type Reader struct {
	Name   string // in errors; folders such as year=2024 in it become columns
	Reader io.ReaderAt
	Size   int64
}

// Readers reads files out of readers, as one table, as Files does. Whoever has made the readers
// closes them, after the run.
func Readers(files ...Reader) Source {
	inputs := make([]input.File, len(files))
	for i, f := range files {
		inputs[i] = input.File{Name: f.Name, Path: f.Name, Reader: f.Reader, Size: f.Size}
	}
	return source{input.Readers(inputs...)}
}

// Parquet is Readers of one reader.
func Parquet(name string, r io.ReaderAt, size int64) Source {
	return Readers(Reader{name, r, size})
}

// Stream reads a Parquet file, an Arrow IPC file or an Arrow IPC stream from r, told by its first
// bytes. It is read once. An Arrow stream is read as it comes. A file goes to Options.TempDir
// first, within Options.TempLimit, as it is read from its end; but an *os.File that is one is
// read as it is. Errors call it name. What is blocked in r may outlive a run whose context ended.
func Stream(name string, r io.Reader) Source { return source{input.Stream(name, r)} }

// Records reads Arrow records. They are read once: a query from them cannot
// be run a second time. The caller keeps the reader and releases it after
// the run, which holds a reference for as long as it calls it.
func Records(r array.RecordReader) Source { return source{input.Records(r)} }

// RecordSeq reads the records of an iterator, once, which all have the schema. A record stays the
// iterator's: it may release it when yield returns, since the run retains what it still needs, and
// releases that. The iterator runs in a goroutine of its own, one record ahead of the run. yield
// returns false when no more is wanted. The first error ends the run. So does a panic of it, or of
// a file system: the error then has a method Stack() []byte, for errors.As, which says where.
func RecordSeq(schema *arrow.Schema, records iter.Seq2[arrow.Record, error]) Source {
	return source{input.RecordSeq(schema, records)}
}

// RecordChan reads the records that come out of a channel until it is closed, once, which all have
// the schema. A record that was received is the run's, which releases it, whatever becomes of the
// run. Once Run has returned nothing more is received: what is sent later, or waits in the channel,
// is the sender's. Who sends should stop at the end of the context too.
func RecordChan(schema *arrow.Schema, records <-chan arrow.Record) Source {
	return source{input.RecordChan(schema, records)}
}

// SourceError is an error of what a program has made for a Source to read. It is an ErrInput.
type SourceError = input.SourceError

// Merge combines the states of groups (Query.Partial) that the sources hold, and finishes them:
// files of states, records of them, and inputs with rows, which become states first. All have to be
// of one query, which is theirs: By, Aggs, Where and the like of the Query need not be set, and
// have to agree if they are. Having, OrderBy, Limit, Offset and Pivot are applied to what comes of
// all. With Query.Partial the result is states again.
//
// The order of rows, which list, first and others go by, is their order in each input. Inputs
// follow one another in an order that agrees with that of each of the states; what these leave open
// goes by how inputs are first met, from the first source on. Where columns go by the order of
// rows, states whose orders of inputs contradict each other are an ErrInput. States of the same
// rows are merged once: a second time is an ErrInput. So are states that are damaged, and a stream
// or a file of states that is not all there; of Records, whose reader is the caller's, only that
// reader knows whether all of them came.
func Merge(sources ...Source) Source {
	var all []input.Source
	for _, s := range sources {
		all = append(all, s.source())
	}
	return source{input.Merge(all...)}
}

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
	// States is the query whose states, which Merge finishes, the input holds; "": it holds rows.
	States string `json:"states,omitempty"`
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
	d := Description{Files: all.Files, Rows: all.Rows, RowGroups: all.RowGroups, Bytes: all.Bytes, States: all.States}
	for _, c := range all.Columns {
		d.Columns = append(d.Columns, ColumnDescription(c))
	}
	return &d
}
