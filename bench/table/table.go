// Package table writes the tables of the data makers to files.
package table

import (
	"bufio"
	"io"
	"os"
	"path/filepath"

	"github.com/gagg-dev/gagg/internal/sink"
)

// Table is what a data maker makes.
type Table interface {
	// WriteParquet writes it as one Parquet file.
	WriteParquet(w io.Writer) error
}

// Write writes a table to a file, in a folder that is made if need be. It leaves
// no half-written file under path.
func Write(path string, t Table) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := sink.Create(path)
	if err != nil {
		return err
	}
	defer file.Abort()
	buffered := bufio.NewWriterSize(file, 1<<20)
	if err := t.WriteParquet(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return file.Commit()
}
