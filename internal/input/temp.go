package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/spill"
)

// Temp keeps what sources read from pipes, which can be read only once, in the temp folder: for as
// long as a run lasts, which may open its source again.
type Temp struct {
	space *spill.Space
	mu    sync.Mutex
	files map[any]*spill.File // by the pipe: a path or a reader
}

// NewTemp returns a place for that in space, which creates nothing before it is needed.
func NewTemp(space *spill.Space) *Temp { return &Temp{space: space, files: map[any]*spill.File{}} }

// Close removes what was spooled. It may be called again, and while a source is read.
func (t *Temp) Close() error { return t.space.Close() }

// Written is how many bytes were spooled.
func (t *Temp) Written() int64 { return t.space.Written() }

// spoolBuffer is how much is read from a pipe at once: as much as it holds at most.
const spoolBuffer = 1 << 20

// Spooled is the file that a pipe was spooled to before; nil: it was not.
func (t *Temp) Spooled(pipe any) *spill.File {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.files[pipe]
}

// Spool writes r, which is what comes from a pipe, to a file, up to its end.
func (t *Temp) Spool(ctx context.Context, pipe any, name string, r io.Reader, from budget.Lender) (*spill.File, error) {
	if t == nil {
		return nil, &Error{fmt.Errorf("%s: it comes by a pipe, and there is no temp folder for it", name)}
	}
	f, err := t.space.File()
	if err == nil {
		err = spool(f, r, from)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, new(*readError)):
		return nil, &Error{fmt.Errorf("%s: %w", name, &SourceError{name, err})}
	case err != nil:
		return nil, fmt.Errorf("%s: it comes by a pipe, which goes to the temp folder: %w", name, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[pipe] = f
	return f, nil
}

func spool(f *spill.File, r io.Reader, from budget.Lender) error {
	from = budget.Or(from)
	if err := from.Draw(spoolBuffer); err != nil {
		return err
	}
	defer from.Release(spoolBuffer)
	return f.Spool(markedReader{r}, make([]byte, spoolBuffer))
}

// readError is an error of reading a pipe, to tell it from one of the temp folder.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// markedReader marks the errors of a reader.
type markedReader struct{ io.Reader }

func (m markedReader) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readError{err}
	}
	return n, err
}
