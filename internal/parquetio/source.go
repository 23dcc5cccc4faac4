package parquetio

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// maxOpenFiles bounds the file descriptors of one dataset: a quarter of the
// usual limit of 1024 a process.
const maxOpenFiles = 256

var (
	errChanged = errors.New("changed while it was read; run again when nothing writes to it")
	errClosed  = errors.New("read after the dataset was closed")
)

// A source is the bytes of one input. It opens its file when it is read, and
// again when the pool has closed it meanwhile, and is safe for concurrent use.
type source struct {
	path   string
	reader io.ReaderAt // given by the caller; then there is no file
	pool   *filePool

	mu   sync.RWMutex // held for reading while f is in use
	f    *os.File
	info fs.FileInfo // as it was when first opened; nil: a reader that is no file
	used atomic.Bool // since the pool last looked
}

// ReadAt implements io.ReaderAt.
func (s *source) ReadAt(p []byte, off int64) (n int, err error) {
	if s.reader != nil {
		return s.reader.ReadAt(p, off)
	}
	useErr := s.use(func(f *os.File) { n, err = f.ReadAt(p, off) })
	if useErr != nil {
		err = useErr
	}
	return n, withoutPath(err)
}

// use calls do with the open file.
func (s *source) use(do func(*os.File)) error {
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

// open opens the file and, the second time, makes sure that it is still the
// same one. No lock is held while the pool is asked: the pool may close
// another source, which waits for the reads on it.
func (s *source) open() error {
	for s.pool.evict(s.pool.limit - 1) {
	}
	err := s.openLocked()
	for errors.Is(err, syscall.EMFILE) && s.pool.evict(0) {
		err = s.openLocked()
	}
	return err
}

func (s *source) openLocked() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f != nil {
		return nil
	}
	if s.pool.closed.Load() {
		return errClosed
	}
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case s.info == nil && !info.Mode().IsRegular():
		err = errNotRegular
	case s.info != nil && !unchanged(s.info, info):
		err = errChanged
	}
	if err != nil {
		_ = f.Close() // only read from: nothing can be lost
		return err
	}
	s.f, s.info = f, info
	s.pool.admit(s)
	return nil
}

func unchanged(then, now fs.FileInfo) bool {
	return os.SameFile(then, now) && then.Size() == now.Size() && then.ModTime().Equal(now.ModTime())
}

// close gives the descriptor back once the reads under way are done; the next
// read opens the file again.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f != nil {
		_ = s.f.Close() // only read from: nothing can be lost
		s.f = nil
	}
}

// A filePool keeps about limit files open: a few more while several are
// opened at once. It closes those first that have not been read for long (the
// clock algorithm).
type filePool struct {
	limit  int
	closed atomic.Bool // nothing is opened any more

	mu      sync.Mutex // held for looking at sources only, never for closing
	sources []*source  // those that are open
	hand    int
}

func (p *filePool) admit(s *source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sources = append(p.sources, s)
}

// evict closes one file if more than keep are open, and reports whether it
// did.
func (p *filePool) evict(keep int) bool {
	s := p.victim(keep)
	if s == nil {
		return false
	}
	s.close()
	return true
}

// victim takes the next source out that has not been used since the hand
// passed it; nil when there is room.
func (p *filePool) victim(keep int) *source {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.sources) > keep {
		p.hand %= len(p.sources)
		s := p.sources[p.hand]
		if !s.used.Swap(false) {
			p.sources = append(p.sources[:p.hand], p.sources[p.hand+1:]...)
			return s
		}
		p.hand++
	}
	return nil
}

// size opens the file, for the first time, and returns how long it is.
func (s *source) size() (n int64, err error) {
	err = s.use(func(*os.File) { n = s.info.Size() })
	return n, err
}

// stat tells what is at the path now, or of a reader that is a file, as stdin
// may be, what that file is now; nil for other readers.
func (s *source) stat() (fs.FileInfo, error) {
	if s.reader == nil {
		return os.Stat(s.path)
	}
	if f, ok := s.reader.(*os.File); ok {
		return f.Stat()
	}
	return nil, nil
}
