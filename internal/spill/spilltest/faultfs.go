// Package spilltest is a file system for spill files that fails on demand.
//
// A test injects faults, runs what it tests, and compares Injected with the
// outcome: a fault that was injected must be absorbed (the answer is exact)
// or reported, and Opened must be 0 at the end either way. To fail at every
// operation in turn, count the operations of a run without faults (Count)
// and run again for each of them.
package spilltest

import (
	"io/fs"
	"sync"

	"github.com/gagg-dev/gagg/internal/spill"
)

// Op is a kind of operation.
type Op string

// The kinds of operations, those of directories first.
const (
	OpenDir Op = "opendir" // of the folder, and of directories in it
	Names   Op = "names"
	Lstat   Op = "lstat"
	Mkdir   Op = "mkdir"
	Create  Op = "create" // of files that must or may exist
	Remove  Op = "remove"
	Stat    Op = "stat"
	Lock    Op = "lock"
	Write   Op = "write"
	Read    Op = "read"
	Punch   Op = "punch"
	Close   Op = "close" // of files and directories
)

// Ops is all kinds of operations.
var Ops = []Op{OpenDir, Names, Lstat, Mkdir, Create, Remove, Stat, Lock, Write, Read, Punch, Close}

// Fault is something that goes wrong.
type Fault struct {
	Op      Op
	N       int   // the first operation of this kind that fails, from 1
	Forever bool  // all that follow fail too
	Err     error // may be nil if Short or Flip is set
	Short   bool  // Write, Read: only the first half is written or read
	Flip    bool  // Read: one bit is not as it was written, without an error
}

// FS is spill.FS with faults. Close does close whatever it reports.
type FS struct {
	base spill.FS

	mu       sync.Mutex
	faults   []Fault
	count    map[Op]int
	injected int
	opened   int
}

// New returns a file system over the real one.
func New(faults ...Fault) *FS {
	return &FS{base: spill.System(), faults: faults, count: map[Op]int{}}
}

// Count returns how many operations of a kind there were.
func (f *FS) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count[op]
}

// Injected returns how many operations failed on demand.
func (f *FS) Injected() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.injected
}

// Opened returns how many files and directories are open.
func (f *FS) Opened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened
}

// next counts an operation and returns its fault.
func (f *FS) next(op Op) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count[op]++
	for _, x := range f.faults {
		if n := f.count[op]; x.Op == op && (n == x.N || x.Forever && n > x.N) {
			f.injected++
			return x, true
		}
	}
	return Fault{}, false
}

// fail is next for an operation that has an error only.
func (f *FS) fail(op Op) error {
	x, _ := f.next(op)
	return x.Err
}

func (f *FS) open(by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened += by
}

// OpenDir is spill.FS's.
func (f *FS) OpenDir(name string) (spill.Dir, error) {
	return f.openDir(func() (spill.Dir, error) { return f.base.OpenDir(name) })
}

func (f *FS) openDir(open func() (spill.Dir, error)) (spill.Dir, error) {
	if err := f.fail(OpenDir); err != nil {
		return nil, err
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	f.open(1)
	return &dir{f, d}, nil
}

type dir struct {
	fs   *FS
	base spill.Dir
}

func (d *dir) OpenDir(name string) (spill.Dir, error) {
	return d.fs.openDir(func() (spill.Dir, error) { return d.base.OpenDir(name) })
}

func (d *dir) Names(prefix string) ([]string, error) {
	if err := d.fs.fail(Names); err != nil {
		return nil, err
	}
	return d.base.Names(prefix)
}

func (d *dir) Lstat(name string) (fs.FileInfo, error) {
	if err := d.fs.fail(Lstat); err != nil {
		return nil, err
	}
	return d.base.Lstat(name)
}

func (d *dir) Mkdir(name string) error {
	if err := d.fs.fail(Mkdir); err != nil {
		return err
	}
	return d.base.Mkdir(name)
}

func (d *dir) Remove(name string) error {
	if err := d.fs.fail(Remove); err != nil {
		return err
	}
	return d.base.Remove(name)
}

func (d *dir) Close() error {
	err := d.fs.fail(Close)
	d.fs.open(-1)
	if closeErr := d.base.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (d *dir) Create(name string) (spill.Handle, error) {
	return d.create(func() (spill.Handle, error) { return d.base.Create(name) })
}

func (d *dir) OpenOrCreate(name string) (spill.Handle, error) {
	return d.create(func() (spill.Handle, error) { return d.base.OpenOrCreate(name) })
}

func (d *dir) create(create func() (spill.Handle, error)) (spill.Handle, error) {
	if err := d.fs.fail(Create); err != nil {
		return nil, err
	}
	h, err := create()
	if err != nil {
		return nil, err
	}
	d.fs.open(1)
	return &handle{h, d.fs}, nil
}

type handle struct {
	spill.Handle // Prefetch is a hint and does not fail
	fs           *FS
}

func (h *handle) Stat() (fs.FileInfo, error) {
	if err := h.fs.fail(Stat); err != nil {
		return nil, err
	}
	return h.Handle.Stat()
}

func (h *handle) Lock() (bool, error) {
	if err := h.fs.fail(Lock); err != nil {
		return false, err
	}
	return h.Handle.Lock()
}

func (h *handle) Punch(off, n int64) error {
	if err := h.fs.fail(Punch); err != nil {
		return err
	}
	return h.Handle.Punch(off, n)
}

func (h *handle) Close() error {
	err := h.fs.fail(Close)
	h.fs.open(-1)
	if closeErr := h.Handle.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (h *handle) WriteAt(b []byte, off int64) (int, error) {
	return h.transfer(Write, h.Handle.WriteAt, b, off)
}

func (h *handle) ReadAt(b []byte, off int64) (int, error) {
	return h.transfer(Read, h.Handle.ReadAt, b, off)
}

func (h *handle) transfer(op Op, do func([]byte, int64) (int, error), b []byte, off int64) (int, error) {
	x, failed := h.fs.next(op)
	if !failed {
		return do(b, off)
	}
	if x.Err != nil && !x.Short {
		return 0, x.Err
	}
	part := b
	if x.Short {
		part = b[:len(b)/2]
	}
	n, err := do(part, off)
	if x.Flip && n > 0 {
		b[n/2] ^= 1
	}
	if err == nil {
		err = x.Err
	}
	return n, err
}
