package sink

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// WriteError is a failure of a document, or of what it is written to, and not of its rows.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return "cannot write the result: " + e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// WriteAll writes all rows, and ends the document. create makes the writer once the first record is
// there, so that an input that turns out bad leaves nothing behind in a pipe. An error of the rows,
// or of the context, is returned as it is, and a *WriteError otherwise.
func WriteAll(ctx context.Context, rows array.RecordReader, create func(*arrow.Schema) (Writer, error)) error {
	more := rows.Next()
	if err := rows.Err(); err != nil {
		return err
	}
	w, err := create(rows.Schema())
	if err != nil {
		return &WriteError{err}
	}
	for ; more; more = rows.Next() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := w.Write(rows.Record()); err != nil {
			return errors.Join(&WriteError{err}, w.Close())
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return &WriteError{err}
	}
	return nil
}
