package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/gagg-dev/gagg/internal/budget"
)

// Object is a file on a server. Its methods may overlap.
type Object struct {
	client  *Client
	url     string
	size    int64
	version version

	mu    sync.Mutex
	ctx   context.Context // of the run that reads it
	from  budget.Lender   // nil: it is not read
	tail  []byte          // the end; nil: it was let go of
	parts map[int]*wanted // the wanted ranges, by the caller's number
}

// version is what tells that an object is still the same.
type version struct{ tag, modified string }

func versionOf(h http.Header) version { return version{h.Get("ETag"), h.Get("Last-Modified")} }

// condition asks for this version only. A weak tag cannot be asked for.
func (v *version) condition(h http.Header) {
	switch {
	case v == nil:
	case v.tag != "" && !strings.HasPrefix(v.tag, "W/"):
		h.Set("If-Match", v.tag)
	case v.modified != "":
		h.Set("If-Unmodified-Since", v.modified)
	}
}

// Size is how many bytes it has.
func (o *Object) Size() int64 { return o.size }

// open makes the first request, for the end of the object. listed is its size, as a listing has it;
// 0: nobody knows.
func (o *Object) open(ctx context.Context, listed int64) (whole *Whole, err error) {
	err = o.client.again(ctx, func() error {
		a, err := o.getTail(ctx, &listed)
		if err != nil {
			return err
		}
		if a.StatusCode == http.StatusOK {
			whole = &Whole{a}
			return nil
		}
		defer func() { _ = a.Close() }() // all that counts was read
		from, to, size, err := contentRange(a.Header)
		if err != nil || to != size {
			return fmt.Errorf("%w (Content-Range %q)", errAnswer, a.Header.Get("Content-Range"))
		}
		if to-from > tailBytes {
			return fmt.Errorf("%w: %d bytes where %d were asked for", errAnswer, to-from, tailBytes)
		}
		tail := make([]byte, to-from)
		if _, err := io.ReadFull(a, tail); err != nil {
			return err
		}
		o.size, o.tail, o.version = size, tail, versionOf(a.Header)
		return nil
	})
	return whole, err
}

// getTail asks for the last bytes. Some servers refuse that of an object that has fewer: where the
// size is known the range is an exact one, and no second request is needed. listed becomes 0 if it
// turns out to be another object's.
func (o *Object) getTail(ctx context.Context, listed *int64) (*answer, error) {
	if *listed > 0 {
		a, err := o.client.get(ctx, o.url, fmt.Sprintf("%d-%d", max(*listed-tailBytes, 0), *listed-1), nil)
		if err == nil && a.StatusCode == http.StatusPartialContent {
			if _, _, size, err := contentRange(a.Header); err == nil && size != *listed {
				_ = a.Close() // it was replaced after the listing
				*listed = 0
				return o.getTail(ctx, listed)
			}
		}
		if !isStatus(err, http.StatusRequestedRangeNotSatisfiable) {
			return a, err
		}
		*listed = 0
	}
	a, err := o.client.get(ctx, o.url, fmt.Sprintf("-%d", tailBytes), nil)
	if isStatus(err, http.StatusRequestedRangeNotSatisfiable) {
		a, err = o.client.get(ctx, o.url, fmt.Sprintf("0-%d", tailBytes-1), nil)
	}
	return a, err
}

func isStatus(err error, code int) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == code
}

// contentRange is from where to where an answer goes, and the size of the whole.
func contentRange(h http.Header) (from, to, size int64, err error) {
	_, err = fmt.Sscanf(h.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &size)
	if err == nil && (from < 0 || to < from || to >= size) {
		err = errAnswer
	}
	return from, to + 1, size, err
}

// use begins another use of the object.
func (o *Object) use(ctx context.Context, from budget.Lender) {
	o.Rest()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ctx, o.from = ctx, budget.Or(from)
	if o.from.Draw(int64(len(o.tail))) != nil {
		o.tail = nil
	}
}

// Rest ends a use: all wanted ranges are forgotten and their memory is released.
func (o *Object) Rest() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for part, w := range o.parts {
		o.forget(part, w)
	}
	if o.from != nil {
		o.from.Release(int64(len(o.tail)))
		o.from = nil
	}
}

// read asks for len(p) bytes, in as many attempts as it takes.
func (o *Object) read(ctx context.Context, p []byte, off int64) error {
	done := 0
	return o.client.again(ctx, func() error {
		n, err := o.readOnce(ctx, p[done:], off+int64(done))
		done += n
		return err
	})
}

func (o *Object) readOnce(ctx context.Context, p []byte, off int64) (int, error) {
	select {
	case o.client.tickets <- struct{}{}:
		defer func() { <-o.client.tickets }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	a, err := o.client.get(ctx, o.url, fmt.Sprintf("%d-%d", off, off+int64(len(p))-1), &o.version)
	if err != nil {
		return 0, err
	}
	defer func() { _ = a.Close() }() // all that counts was read
	now := versionOf(a.Header)
	from, to, size, err := contentRange(a.Header)
	switch {
	case now.tag != o.version.tag, now.tag == "" && now.modified != o.version.modified:
		return 0, ErrChanged
	case a.StatusCode == http.StatusOK:
		return 0, fmt.Errorf("%w: the whole of it where a part was asked for", errAnswer)
	case err != nil, from != off, to > off+int64(len(p)):
		return 0, fmt.Errorf("%w (Content-Range %q)", errAnswer, a.Header.Get("Content-Range"))
	case size != o.size:
		return 0, ErrChanged
	}
	n, err := io.ReadFull(a, p[:to-from])
	if err == nil && n < len(p) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (o *Object) ReadAt(p []byte, off int64) (n int, err error) {
	short := off+int64(len(p)) > o.size
	if short {
		p = p[:max(o.size-off, 0)]
	}
	for n < len(p) && err == nil {
		var m int
		m, err = o.readSome(p[n:], off+int64(n))
		n += m
	}
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// readSome reads from the tail, from a wanted range, or from the server.
func (o *Object) readSome(p []byte, off int64) (int, error) {
	o.mu.Lock()
	if at := off - (o.size - int64(len(o.tail))); at >= 0 && len(o.tail) > 0 {
		defer o.mu.Unlock()
		return copy(p, o.tail[at:]), nil
	}
	e, ctx := o.extentAt(off), o.ctx
	if e != nil && (e.gone || !e.begun && !o.begin(e, false)) {
		e = nil
	}
	o.mu.Unlock()
	if e == nil {
		return len(p), o.read(ctx, p, off)
	}
	select {
	case <-e.done:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	if e.err != nil && ctx.Err() == nil && errors.Is(e.err, context.Canceled) { // it was forgotten
		return len(p), o.read(ctx, p, off)
	}
	if e.err != nil {
		return 0, e.err
	}
	o.mu.Lock()
	data := e.data
	o.mu.Unlock()
	if data == nil { // it is gone
		return len(p), o.read(ctx, p, off)
	}
	n := copy(p, data[off-e.off:])
	o.mu.Lock()
	defer o.mu.Unlock()
	if e.read += int64(n); e.read >= e.size {
		o.drop(e)
	}
	return n, nil
}

// Near reports whether reading a range makes no request.
func (o *Object) Near(off, n int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if off >= o.size-int64(len(o.tail)) {
		return true
	}
	e := o.extentAt(off)
	return e != nil && e.begun && !e.gone && off+n <= e.off+e.size
}
