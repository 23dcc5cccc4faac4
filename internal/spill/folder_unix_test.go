//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package spill

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// F7: the modes are those of the owner alone, whatever the umask.
func TestModes(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		dir := t.TempDir()
		old := syscall.Umask(umask)
		s := openSpace(t, Config{Dir: dir})
		f, err := s.File()
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		file, err := f.handle.Stat()
		if err != nil {
			t.Fatal(err)
		}
		private, err := os.Stat(filepath.Join(dir, s.private.name))
		if err != nil {
			t.Fatal(err)
		}
		lock, err := os.Stat(filepath.Join(dir, s.private.name, lockName))
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]os.FileMode{private.Mode().Perm(), file.Mode().Perm(), lock.Mode().Perm()}; got != [3]os.FileMode{0o700, 0o600, 0o600} {
			t.Errorf("umask %#o: modes %#o", umask, got)
		}
	}
}

// F8: links in the place of what is ours lead nowhere.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	dir, target := t.TempDir(), t.TempDir()
	touch(t, filepath.Join(target, lockName))
	touch(t, filepath.Join(target, fileName(0)))
	inside := mkdir(t, filepath.Join(dir, "mine"), 0o700)
	touch(t, filepath.Join(inside, fileName(0)))
	symlink := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	symlink(target, deadName)
	symlink("mine", prefix+strings.Repeat("4e", 16)) // a Root would follow it
	s := openSpace(t, Config{Dir: dir})
	if err := s.Probe(); err != nil {
		t.Fatal(err)
	}
	if got := len(entries(t, target)) + len(entries(t, inside)); got != 3 {
		t.Errorf("%d of 3 files behind links are left", got)
	}
	// A file of the name that comes next, in the private directory.
	if err := os.Symlink(filepath.Join(target, "new"), filepath.Join(dir, s.private.name, fileName(s.next))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.File(); err == nil {
		t.Error("a file was made through a link")
	}
	if got := len(entries(t, target)); got != 2 {
		t.Errorf("behind the link there are %d files", got)
	}
}

// F8: a link to a folder is followed if it is the user's own, or root's, and
// refused if it is someone else's.
func TestLinkedFolder(t *testing.T) {
	t.Parallel()
	dir, target := t.TempDir(), t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := openSpace(t, Config{Dir: link}).Probe(); err != nil {
		t.Errorf("a link of our own: %v", err)
	}
	if os.Geteuid() != 0 {
		return // only root can give a link away
	}
	if err := os.Lchown(link, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{link, link + "/"} {
		if err := openSpace(t, Config{Dir: name}).Probe(); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "another user") {
			t.Errorf("%s, a link of another user: %v", name, err)
		}
	}
}

// A private directory of another user is not swept, even by root.
func TestSweepLeavesOtherUsers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("not root: only that the system refuses is seen")
		return
	}
	dir := t.TempDir()
	dead := mkdir(t, filepath.Join(dir, deadName), 0o700)
	touch(t, filepath.Join(dead, lockName))
	if err := os.Chown(dead, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if err := openSpace(t, Config{Dir: dir}).Probe(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dead, lockName)); err != nil {
		t.Error(err)
	}
}

// F8: the folder is replaced while a space is open. Files go on being made
// in the old one.
func TestReplacedFolder(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := mkdir(t, filepath.Join(base, "tmp"), 0o700)
	s := openSpace(t, Config{Dir: dir})
	openFile(t, s)
	if err := os.Rename(dir, filepath.Join(base, "moved")); err != nil {
		t.Fatal(err)
	}
	mkdir(t, dir, 0o700)
	openFile(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, base); len(got) != 2 {
		t.Errorf("there are %v, want two empty folders", got)
	}
}

// F17: the private directory goes before the files are closed, which waits
// for a write to a slow disk: a process that was stopped may end before that.
func TestCloseWhileWriting(t *testing.T) {
	dir := t.TempDir()
	s := openSpace(t, Config{Dir: dir})
	f, err := s.File()
	if err != nil {
		t.Fatal(err)
	}
	f.writing.Lock() // as an Append that hangs
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	gone := func() bool { left, err := os.ReadDir(dir); return err == nil && len(left) == 0 }
	for i := 0; !gone() && i < 10_000; i++ {
		time.Sleep(time.Millisecond)
	}
	if !gone() {
		t.Error("the directory is there for as long as a file is written to")
	}
	f.writing.Unlock()
	if err := bounded.Receive(t, "the end of Close", closed); err != nil {
		t.Error(err)
	}
}

// A private directory that someone removed is an error, not a crash.
func TestRemovedDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openSpace(t, Config{Dir: dir})
	f := openFile(t, s)
	if err := os.RemoveAll(filepath.Join(dir, s.private.name)); err != nil {
		t.Fatal(err)
	}
	e, err := f.Append([]byte("lives on"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read(e, nil); err != nil || string(got) != "lives on" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := s.File(); err == nil {
		t.Error("a file was made nowhere")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// F9: too many open files is an error of its own, with advice.
func TestTooManyFiles(t *testing.T) {
	t.Parallel()
	s := openSpace(t, Config{FS: failingFS{syscall.EMFILE}})
	_, err := s.File()
	if !errors.Is(err, ErrExhausted) || !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("%v", err)
	}
}

type failingFS struct{ err error }

func (f failingFS) OpenDir(string) (Dir, error) { return nil, f.err }

// TestMain turns the test binary into a process that spills until it is
// killed, if TestKilled asks for that.
func TestMain(m *testing.M) {
	dir := os.Getenv("SPILL_TEST_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := Open(Config{Dir: dir})
	if err != nil {
		panic(err)
	}
	for first := true; ; first = false {
		f, err := s.File()
		if err != nil {
			panic(err)
		}
		if _, err := f.Append(make([]byte, 1000), 0, 0); err != nil {
			panic(err)
		}
		if err := f.Close(); err != nil {
			panic(err)
		}
		if first {
			_, _ = os.Stdout.WriteString("spilling\n")
		}
	}
}

// F5, F18: kill -9 while a process makes and removes files; the next run
// removes what it left, and nothing while it lives.
func TestKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for range 5 {
		child := bounded.Command(t, self)
		child.Env = append(os.Environ(), "SPILL_TEST_DIR="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		if err := openSpace(t, Config{Dir: dir}).Probe(); err != nil {
			t.Fatal(err)
		}
		alive := countPrivate(t, dir)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // says that it was killed
		if alive < 2 {
			t.Fatalf("%d private directories while a child was alive beside us", alive)
		}
	}
	s := openSpace(t, Config{Dir: dir})
	if err := s.Probe(); err != nil {
		t.Fatal(err)
	}
	// The spaces of this process are alive still: 5 above and this one.
	if got := countPrivate(t, dir); got != 6 {
		t.Errorf("%d private directories, want the 6 that are in use", got)
	}
}

func countPrivate(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	for _, name := range entries(t, dir) {
		if isPrivateName(name) {
			n++
		}
	}
	return n
}
