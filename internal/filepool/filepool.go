// Package filepool reads files at any place, of which no more than some are open at once. What was
// closed meanwhile is opened again when it is next read, and must be what it was.
//
// A [Source] is a file of the system or of an [fs.FS], or a reader of the caller's in place of one:
// who reads it need not know which. INV-SAME: a file is what it was when it was first opened, by
// device, inode, size and time of its last change, as far as they are known, or reading it fails
// with [ErrChanged].
package filepool

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// MostOpen bounds the file descriptors of one pool: a quarter of the usual limit of 1024 a
// process.
const MostOpen = 256

// What may be wrong with a source, beside what the system says.
var (
	ErrChanged    = errors.New("changed while it was read; run again when nothing writes to it")
	ErrClosed     = errors.New("read after its input was closed")
	ErrNotRegular = errors.New("not a regular file; it must be one that can be read at any place")
)

// Pool keeps about Most files open: a few more while several are opened at once. It closes
// those first that have not been read for long (the clock algorithm). The zero value is an empty
// pool. It is safe for concurrent use.
type Pool struct {
	Most int // of files that are open; 0: MostOpen

	mu     sync.Mutex // held for looking at sources only, never for closing
	closed bool       // nothing is opened any more
	open   []*Source  // in no order
	hand   int
}

// Source is the bytes of one input. It is safe for concurrent use.
type Source struct {
	path   string
	fsys   fs.FS       // that has the path; nil: the system's
	reader io.ReaderAt // given by the caller; then there is no file
	pool   *Pool

	mu   sync.RWMutex // held for reading while f is in use
	f    handle
	info fs.FileInfo // as it was when first opened; nil: a reader that is no file
	used atomic.Bool // since the pool last looked
}

// handle is an open file.
type handle interface {
	io.ReaderAt
	fs.File
}

// File is the file at a path. Nothing is opened yet.
func (p *Pool) File(path string) *Source { return &Source{path: path, pool: p} }

// FS is a file of fsys, which can be read at any place, once it is open.
func (p *Pool) FS(fsys fs.FS, path string) *Source { return &Source{fsys: fsys, path: path, pool: p} }

// Reader is r, which stays the caller's to close.
func (p *Pool) Reader(r io.ReaderAt) *Source { return &Source{reader: r, pool: p} }

// Close closes all files, once the reads under way are done. Files are not opened any more.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for p.closeIdle(0) {
	}
}

// Given is the reader that the caller gave; nil: the source is a file.
func (s *Source) Given() io.ReaderAt { return s.reader }

// ReadAt implements io.ReaderAt. Its errors do not name the path.
func (s *Source) ReadAt(p []byte, off int64) (n int, err error) {
	if s.reader != nil {
		return s.reader.ReadAt(p, off)
	}
	useErr := s.use(func(f handle) { n, err = f.ReadAt(p, off) })
	if useErr != nil {
		err = useErr
	}
	return n, WithoutPath(err)
}

// WithoutPath takes the operation and the path off an error of the system.
func WithoutPath(err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

// Use calls do with the open file, if it is one of the system.
func (s *Source) Use(do func(*os.File)) error {
	if s.reader != nil {
		return nil
	}
	return s.use(func(h handle) {
		if f, ok := h.(*os.File); ok {
			do(f)
		}
	})
}

func (s *Source) use(do func(handle)) error {
	for {
		s.mu.RLock()
		if s.f != nil {
			defer s.mu.RUnlock()
			s.used.Store(true)
			do(s.f)
			return nil
		}
		s.mu.RUnlock()
		if err := s.open(); err != nil {
			return err
		}
	}
}

// Size looks at the source for the first time, and returns how long it is: a reader as long as the
// caller says.
func (s *Source) Size(ofReader int64) (n int64, err error) {
	if s.reader != nil {
		s.info, err = s.Stat()
		return ofReader, err
	}
	err = s.use(func(handle) { n = s.info.Size() })
	return n, WithoutPath(err)
}

// Unchanged compares the source with what it was; of a reader that is no file nothing is known.
func (s *Source) Unchanged() error {
	if s.info == nil {
		return nil
	}
	now, err := s.Stat()
	if errors.Is(err, fs.ErrNotExist) || err == nil && !same(s.info, now) {
		return ErrChanged
	}
	return WithoutPath(err)
}

// Modified is when the file was last changed, as it was when Size looked; of a reader that is no
// file nothing is known.
func (s *Source) Modified() (t time.Time) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.info != nil {
		t = s.info.ModTime()
	}
	return t
}

// Stat tells what is at the path now, or of a reader that is a file, as stdin
// may be, what that file is now; nil for other readers.
func (s *Source) Stat() (fs.FileInfo, error) {
	switch {
	case s.fsys != nil:
		return fs.Stat(s.fsys, s.path)
	case s.reader == nil:
		return os.Stat(s.path)
	}
	if f, ok := s.reader.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return f.Stat()
	}
	return nil, nil
}

// same compares what is known of a file: only the system's have a device and an inode.
func same(then, now fs.FileInfo) bool {
	isSystems := os.SameFile(then, then)
	return (!isSystems || os.SameFile(then, now)) && then.Size() == now.Size() && then.ModTime().Equal(now.ModTime())
}

// open opens the file and, the second time, makes sure that it is still the
// same one. No lock is held while the pool is asked: the pool may close
// another source, which waits for the reads on it.
func (s *Source) open() error {
	for s.pool.closeIdle(cmp.Or(s.pool.Most, MostOpen) - 1) {
	}
	err := s.openLocked()
	for errors.Is(err, syscall.EMFILE) && s.pool.closeIdle(0) {
		err = s.openLocked()
	}
	return err
}

func (s *Source) openLocked() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f != nil {
		return nil
	}
	f, err := s.openFile()
	if err != nil {
		return err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !s.pool.admit(s):
		err = ErrClosed
	case s.info == nil && !info.Mode().IsRegular():
		err = ErrNotRegular
	case s.info != nil && !same(s.info, info):
		err = ErrChanged // INV-SAME
	}
	if err != nil {
		s.pool.forget(s)
		_ = f.Close() // only read from: nothing can be lost
		return err
	}
	s.f, s.info = f, info
	return nil
}

func (s *Source) openFile() (handle, error) {
	if s.fsys == nil {
		return os.Open(s.path)
	}
	f, err := s.fsys.Open(s.path)
	if err != nil {
		return nil, err
	}
	h, ok := f.(handle)
	if !ok {
		return nil, errors.Join(ErrNotRegular, f.Close())
	}
	return h, nil
}

// close gives the descriptor back once the reads under way are done; the next
// read opens the file again.
func (s *Source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f != nil {
		_ = s.f.Close() // only read from: nothing can be lost
		s.f = nil
	}
}

// admit notes a source whose file is open, and held by s.mu; false: the pool is closed.
func (p *Pool) admit(s *Source) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open = append(p.open, s)
	}
	return !p.closed
}

// forget takes a source out.
func (p *Pool) forget(s *Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = slices.DeleteFunc(p.open, func(o *Source) bool { return o == s })
}

// closeIdle closes a file that was not used lately if more than keep are open, and reports whether
// it did.
func (p *Pool) closeIdle(keep int) bool {
	s := p.victim(keep)
	if s == nil {
		return false
	}
	s.close()
	return true
}

// victim takes the next source out that has not been used since the hand
// passed it; nil when there is room.
func (p *Pool) victim(keep int) *Source {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.open) > keep {
		p.hand %= len(p.open)
		s := p.open[p.hand]
		if !s.used.Swap(false) {
			p.open = append(p.open[:p.hand], p.open[p.hand+1:]...)
			return s
		}
		p.hand++
	}
	return nil
}
