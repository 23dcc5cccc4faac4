package spill

import (
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/budget"
)

// Config says where spill files go and how much there may be of them.
type Config struct {
	Dir   string // an existing folder; "": DefaultDir
	Limit int64  // bytes on disk; 0: as many as there are
	// that bytes on disk are drawn from, which several spaces share; nil: one of Limit
	Disk *budget.Budget
	FS   FS // nil: the system's

	// Listed is told how much memory lists of blocks take, the caller's own extents included: as
	// they grow, and, by negative numbers, when blocks are forgotten. nil: nobody wants to know.
	Listed func(bytes int64)
}

// Space is the disk space of one run. Its methods may overlap.
type Space struct {
	config Config
	seed   uint64 // of checksums: a block of another run does not verify

	mu      sync.Mutex // guards the rest up to the counters
	state   state
	folder  Dir
	private *private
	files   map[*File]bool
	next    uint32 // number of the next file

	disk         *budget.Budget // bytes on disk, within the limit
	written, raw atomic.Int64   // bytes
}

// state is how far the life of a space is.
type state uint8

const (
	stateIdle   state = iota // nothing was created; ends at the first File or Probe
	stateOpen                // the private directory exists; ends at Close
	stateClosed              // nothing exists; for good
)

// Open makes a space that creates nothing before it is needed.
func Open(c Config) (*Space, error) {
	if c.Limit < 0 {
		return nil, errors.New("spill: the limit is negative")
	}
	if c.Dir == "" {
		c.Dir = DefaultDir()
	}
	if c.FS == nil {
		c.FS = osFS{}
	}
	if c.Disk == nil {
		c.Disk = budget.New(budget.Disk, c.Limit)
	}
	return &Space{config: c, seed: rand.Uint64(), files: map[*File]bool{}, disk: c.Disk}, nil
}

// Dir returns the folder that the files go to.
func (s *Space) Dir() string { return s.config.Dir }

// open makes the private directory, and sweeps what dead processes left in
// the folder. s.mu is held.
func (s *Space) open() error {
	switch s.state {
	case stateOpen:
		return nil
	case stateClosed:
		return ErrClosed
	}
	folder, err := s.config.FS.OpenDir(s.config.Dir)
	if err != nil {
		return s.failure(err, "open")
	}
	sweep(folder)
	p, err := makePrivate(folder)
	if err != nil {
		_ = folder.Close()
		return s.failure(err, "create")
	}
	s.folder, s.private, s.state = folder, p, stateOpen
	return nil
}

// File makes a new file.
func (s *Space) File() (*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, handle, err := s.create()
	if err != nil {
		return nil, err
	}
	f := &File{space: s, number: number, handle: handle}
	s.files[f] = true
	return f, nil
}

// create makes and opens a file without a name, where that is possible.
// s.mu is held.
func (s *Space) create() (uint32, Handle, error) {
	if err := s.open(); err != nil {
		return 0, nil, err
	}
	number := s.next
	s.next++
	handle, err := s.private.dir.Create(fileName(number))
	if err != nil {
		return 0, nil, s.failure(err, "create")
	}
	if !unlinkOpen {
		return number, handle, nil
	}
	if err := s.private.dir.Remove(fileName(number)); err != nil {
		_ = handle.Close()
		return 0, nil, s.failure(err, "create")
	}
	return number, handle, nil
}

// drop closes and forgets a file of create.
func (s *Space) drop(number uint32, handle Handle) error {
	err := handle.Close()
	if unlinkOpen {
		return err
	}
	return errors.Join(err, s.private.dir.Remove(fileName(number)))
}

// Probe creates the private directory, and creates, writes, reads back and
// removes a file in it, so that a folder which cannot be used is found
// before any work is done.
func (s *Space) Probe() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, handle, err := s.create()
	if err != nil {
		return err
	}
	if err := s.probe(handle); err != nil {
		_ = s.drop(number, handle)
		return err
	}
	if err := s.drop(number, handle); err != nil {
		return s.failure(err, "close")
	}
	return nil
}

func (s *Space) probe(handle Handle) error {
	var wrote, read [512]byte
	for i := range wrote {
		wrote[i] = byte(rand.Uint32())
	}
	if err := writeAll(handle, wrote[:], 0); err != nil {
		return s.failure(err, "write")
	}
	if _, err := handle.ReadAt(read[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return s.failure(err, "read")
	}
	if read != wrote {
		return &DamagedError{Dir: s.config.Dir, Block: -1, What: "probe file"}
	}
	return nil
}

// Close closes the files and removes the private directory. The first error
// is returned; what it left behind a later sweep removes. A second call does
// nothing.
func (s *Space) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.state
	s.state = stateClosed
	if was != stateOpen {
		return nil
	}
	// Where files have no names the directory goes first: closing them waits for
	// a write to a slow disk, and a process that was stopped does not wait.
	var err error
	if unlinkOpen {
		err = s.private.remove()
	}
	for f := range s.files {
		err = firstError(err, f.close())
	}
	clear(s.files)
	if !unlinkOpen {
		err = firstError(err, s.private.remove())
	}
	err = firstError(err, s.folder.Close())
	if err != nil {
		return s.failure(err, "remove")
	}
	return nil
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// Written returns the bytes stored in all files, those freed since included.
func (s *Space) Written() int64 { return s.written.Load() }

// RawBytes returns the bytes of all blocks as they were given to Append.
func (s *Space) RawBytes() int64 { return s.raw.Load() }

// Used returns the bytes on disk now: what the limit is compared with.
func (s *Space) Used() int64 { return s.disk.Reserved() }

// Peak returns the most that Used has been.
func (s *Space) Peak() int64 { return s.disk.Peak() }

// reclaim gives the freed blocks of all files back, and reports whether there
// were any. While the space is being closed it does nothing: closing waits for
// the Append that called it.
func (s *Space) reclaim() (some bool) {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	for f := range s.files {
		some = f.reclaim() || some
	}
	return some
}

// failure gives an error its type, unless it has one.
func (s *Space) failure(err error, op string) error {
	return failure(err, op, s.config.Dir, s.disk.Reserved())
}

// writeAll is one WriteAt whose short count is an error too.
func writeAll(w io.WriterAt, b []byte, off int64) error {
	n, err := w.WriteAt(b, off)
	if err == nil && n < len(b) {
		return io.ErrShortWrite
	}
	return err
}
