package spill_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/internal/spill/spilltest"
)

// use does everything that a run does with a space, and returns the first
// error. What it reads it compares.
func use(t *testing.T, dir string, fs spill.FS) error {
	t.Helper()
	s, err := spill.Open(spill.Config{Dir: dir, FS: fs, Limit: faultLimit})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Probe()
	if err == nil {
		err = spillAndRead(t, s)
	}
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	if used := s.Used(); used != 0 {
		t.Errorf("%d bytes in use after Close", used)
	}
	return err
}

func spillAndRead(t *testing.T, s *spill.Space) error {
	t.Helper()
	for range 2 {
		f, err := s.File()
		if err != nil {
			return err
		}
		for i := range 3 {
			e, err := f.Append(content(i), 50*i, 20)
			if err != nil {
				return err
			}
			f.Prefetch(e)
			got, err := f.Read(e, nil)
			if err != nil {
				return err
			}
			if !bytes.Equal(got, content(i)) {
				t.Errorf("block %d was read back wrong, without an error", i)
			}
			f.Free(e)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// content is 20,000 bytes that do not get smaller.
func content(i int) []byte {
	b := make([]byte, 20_000)
	_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(b)
	return b
}

// faultLimit has room for two of them, so that the third needs the space that
// the first has freed.
const faultLimit = 45_000

// absorbed are the operations whose failure may change nothing: those of
// sweeping, locking and of giving space back.
func absorbed(op spilltest.Op) bool {
	switch op {
	case spilltest.Names, spilltest.Lock, spilltest.Punch, spilltest.Lstat, spilltest.OpenDir, spilltest.Create, spilltest.Remove, spilltest.Stat:
		return true
	}
	return false
}

// F1, F3: each operation fails in turn, once and for ever. The error is
// reported or does not matter; nothing stays open, and nothing stays on disk
// unless removing is what failed.
func TestFaults(t *testing.T) {
	t.Parallel()
	clean := spilltest.New()
	if err := use(t, t.TempDir(), clean); err != nil {
		t.Fatal(err)
	}
	for _, op := range spilltest.Ops {
		if clean.Count(op) == 0 {
			t.Errorf("%s does not happen", op)
		}
		for n := 1; n <= clean.Count(op); n++ {
			for _, forever := range []bool{false, true} {
				for _, err := range []error{syscall.EIO, syscall.ENOSPC, syscall.EMFILE} {
					f := spilltest.Fault{Op: op, N: n, Forever: forever, Err: err}
					testFault(t, f)
					if op == spilltest.Write || op == spilltest.Read {
						f.Short = true
						testFault(t, f)
						f.Err = nil
						testFault(t, f)
						f.Short, f.Flip = false, op == spilltest.Read
						if f.Flip {
							testFault(t, f)
						}
					}
				}
			}
		}
	}
}

func testFault(t *testing.T, fault spilltest.Fault) {
	t.Helper()
	name := fmt.Sprintf("%+v", fault)
	dir := t.TempDir()
	fs := spilltest.New(fault)
	err := use(t, dir, fs)
	if fs.Injected() == 0 {
		t.Errorf("%s: was not injected", name)
	}
	// A disk that was full once has room after freed blocks are given back.
	mended := fault.Op == spilltest.Write && !fault.Forever && errors.Is(fault.Err, syscall.ENOSPC)
	if err == nil && !absorbed(fault.Op) && !mended {
		t.Errorf("%s: was not reported", name)
	}
	checkKind(t, name, fault, err)
	if n := fs.Opened(); n != 0 {
		t.Errorf("%s: %d files are open", name, n)
	}
	left, readErr := os.ReadDir(dir)
	if readErr != nil {
		t.Fatal(readErr)
	}
	removing := fault.Op == spilltest.Remove || fault.Op == spilltest.Names
	if len(left) > 0 && !removing {
		t.Errorf("%s: left %s (%v)", name, left[0].Name(), err)
	}
	if err := use(t, dir, spilltest.New()); err != nil {
		t.Errorf("%s: the next run: %v", name, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s: the next run did not sweep %s", name, left[0].Name())
	}
}

// checkKind: an error says what it is.
func checkKind(t *testing.T, name string, fault spilltest.Fault, err error) {
	t.Helper()
	var full *spill.FullError
	var damaged *spill.DamagedError
	switch {
	case err == nil:
	case fault.Op == spilltest.Punch:
		if budget.Refusal(err, budget.Disk) == nil {
			t.Errorf("%s: space that cannot be given back leaves no room: %v", name, err)
		}
	case errors.Is(err, spill.ErrUsage):
		t.Errorf("%s: wrong usage: %v", name, err)
	case fault.Err == nil && fault.Op == spilltest.Write:
		if !errors.Is(err, io.ErrShortWrite) || errors.Is(err, spill.ErrExhausted) {
			t.Errorf("%s: %v", name, err)
		}
	case fault.Err == nil:
		if !errors.As(err, &damaged) {
			t.Errorf("%s: not damaged: %v", name, err)
		}
	case !errors.Is(err, fault.Err):
		t.Errorf("%s: the cause is lost: %v", name, err)
	case errors.Is(fault.Err, syscall.ENOSPC) != errors.As(err, &full):
		t.Errorf("%s: %v", name, err)
	case errors.Is(fault.Err, syscall.EIO) == errors.Is(err, spill.ErrExhausted):
		t.Errorf("%s: the wrong kind: %v", name, err)
	}
}

// F1: the message when the disk is full says where, after how much, and what
// to do.
func TestFullMessage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := spill.Open(spill.Config{Dir: dir, FS: spilltest.New(spilltest.Fault{Op: spilltest.Write, N: 2, Err: syscall.ENOSPC})})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := s.File()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Append([]byte("x"), 0, 0); err != nil {
		t.Fatal(err)
	}
	_, err = f.Append([]byte("y"), 0, 0)
	want := "temp folder " + dir + ": no space after 49 B spilled; free space, or give --temp-dir or more memory"
	if err == nil || err.Error() != want || !errors.Is(err, spill.ErrExhausted) {
		t.Errorf("%v, want %s", err, want)
	}
	if s.Used() != 49 {
		t.Errorf("%d bytes in use", s.Used())
	}
}
