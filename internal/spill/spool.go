package spill

import (
	"errors"
	"io"
)

// Spool writes what comes from r to the end of the file, as it is: what can be read only once can
// then be read at any place, by ReadAt. buf is what it is read into. A file has blocks or this, not
// both. An error of r is returned as it is; what was written before it stays.
func (f *File) Spool(r io.Reader, buf []byte) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	for ended := error(nil); ended == nil; {
		n := 0
		for n < len(buf) && ended == nil {
			var m int
			m, ended = r.Read(buf[n:])
			n += m
		}
		if n > 0 {
			if err := f.appendPlain(buf[:n]); err != nil {
				return err
			}
		}
		if ended != nil && !errors.Is(ended, io.EOF) {
			return ended
		}
	}
	return nil
}

// appendPlain writes bytes behind the others. f.writing is held.
func (f *File) appendPlain(b []byte) error {
	if f.isClosed() {
		return ErrClosed
	}
	n := int64(len(b))
	off, err := f.allocate(n)
	if err != nil {
		return err
	}
	if err := writeAll(f.handle, b, off); err != nil {
		f.giveBack(n)
		return f.space.failure(err, "write")
	}
	f.mu.Lock()
	f.end += n
	f.mu.Unlock()
	f.space.written.Add(n)
	return nil
}

// ReadAt reads what Spool wrote. Calls may overlap.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.handle.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		err = f.space.failure(err, "read")
	}
	return n, err
}

// Size is how many bytes were written.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end
}
