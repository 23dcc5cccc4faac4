package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// failingFS counts the calls that change something and makes the n-th fail:
// once, or that one and all after it. Removal never fails, as it is the way
// back.
type failingFS struct {
	calls, failAt int
	forever       bool
	failed        []string
}

var errInjected = &fs.PathError{Op: "injected", Path: "hidden", Err: syscall.ENOSPC}

func (f *failingFS) fails(op string) error {
	f.calls++
	if f.calls == f.failAt || f.forever && f.failAt > 0 && f.calls > f.failAt {
		f.failed = append(f.failed, op)
		return errInjected
	}
	return nil
}

func (f *failingFS) OpenFile(name string, flag int, perm fs.FileMode) (handle, error) {
	if err := f.fails("open"); err != nil {
		return nil, err
	}
	h, err := osFS{}.OpenFile(name, flag, perm)
	return &failingHandle{h, f}, err
}

func (f *failingFS) Rename(a, b string) error {
	if err := f.fails("rename"); err != nil {
		return err
	}
	return os.Rename(a, b)
}

func (f *failingFS) Mkdir(name string, perm fs.FileMode) error {
	if err := f.fails("mkdir"); err != nil {
		return err
	}
	return os.Mkdir(name, perm)
}

func (f *failingFS) Remove(name string) error               { return os.Remove(name) }
func (f *failingFS) RemoveAll(name string) error            { return os.RemoveAll(name) }
func (f *failingFS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (f *failingFS) Names(dir string) ([]string, error)     { return osFS{}.Names(dir) }

type failingHandle struct {
	handle
	fs *failingFS
}

func (h *failingHandle) Write(p []byte) (int, error) {
	if err := h.fs.fails("write"); err != nil {
		n, _ := h.handle.Write(p[:len(p)/2]) // a full disk takes a part
		return n, err
	}
	return h.handle.Write(p)
}

func (h *failingHandle) Stat() (fs.FileInfo, error) {
	if err := h.fs.fails("stat"); err != nil {
		return nil, err
	}
	return h.handle.Stat()
}

func (h *failingHandle) Chmod(m fs.FileMode) error {
	if err := h.fs.fails("chmod"); err != nil {
		return err
	}
	return h.handle.Chmod(m)
}

func (h *failingHandle) Sync() error {
	if err := h.fs.fails("sync"); err != nil {
		return err
	}
	return h.handle.Sync()
}

// Close really closes and reports the failure late, as NFS does.
func (h *failingHandle) Close() error {
	return errors.Join(h.handle.Close(), h.fs.fails("close"))
}

const newContent = "new content, in two writes"

func writeAll(fsys fileSystem, path string) error {
	f, err := create(fsys, path)
	if err != nil {
		return err
	}
	defer f.Abort()
	for _, part := range []string{newContent[:5], newContent[5:]} {
		if _, err := f.Write([]byte(part)); err != nil {
			return err
		}
	}
	return f.Commit()
}

func expectOnly(t *testing.T, dir, name, content string) {
	t.Helper()
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != name {
			t.Errorf("left behind: %s", e.Name())
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, name))
	if content == "" && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the output exists: %q, %v", got, err)
	}
	if string(got) != content {
		t.Errorf("content: got %q, want %q", got, content)
	}
}

// F20 to F23: whichever call fails, the old output stays as it was (the same
// inode), no hidden file is left, and the run has an error.
func TestFileFailures(t *testing.T) {
	t.Parallel()
	for _, forever := range []bool{false, true} {
		for _, old := range []string{"", "old content"} {
			for n := 1; ; n++ {
				dir := t.TempDir()
				path := filepath.Join(dir, "out.csv")
				var before os.FileInfo
				if old != "" {
					os.WriteFile(path, []byte(old), 0o640)
					before, _ = os.Stat(path)
				}
				fsys := &failingFS{failAt: n, forever: forever}
				err := writeAll(fsys, path)
				if len(fsys.failed) == 0 {
					if err != nil {
						t.Fatalf("nothing failed, yet: %v", err)
					}
					if n < 10 {
						t.Fatalf("only %d calls seen", n-1)
					}
					expectOnly(t, dir, "out.csv", newContent)
					break
				}
				name := fmt.Sprintf("call %d (%s) forever=%t old=%q", n, fsys.failed[0], forever, old)
				// whether the hidden file is still there: another was made
				if err == nil && fsys.failed[0] == "stat" {
					expectOnly(t, dir, "out.csv", newContent)
					continue
				}
				var e *Error
				if !errors.As(err, &e) || !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: error: %v", name, err)
				}
				if e != nil && e.Op == "sync the folder of" {
					expectOnly(t, dir, "out.csv", newContent) // in place, but not sure to last
					continue
				}
				expectOnly(t, dir, "out.csv", old)
				if after, _ := os.Stat(path); before != nil && !os.SameFile(before, after) {
					t.Errorf("%s: the old output is another file now", name)
				}
			}
		}
	}
}

// F27: a link to a file is written through and stays; a link to a folder or
// to nothing is refused.
func TestFileSymlinks(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	real, link := filepath.Join(other, "real.csv"), filepath.Join(dir, "link.csv")
	os.WriteFile(real, []byte("old"), 0o644)
	os.Symlink(real, link)
	if err := writeAll(osFS{}, link); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.Readlink(link); got != real {
		t.Errorf("the link became %q", got)
	}
	expectOnly(t, other, "real.csv", newContent)

	toFolder, toNothing := filepath.Join(dir, "folder"), filepath.Join(dir, "nothing")
	os.Symlink(other, toFolder)
	os.Symlink(filepath.Join(other, "none"), toNothing)
	if _, err := Create(toFolder); !errors.Is(err, ErrIsFolder) {
		t.Errorf("link to a folder: %v", err)
	}
	if _, err := Create(toNothing); !errors.Is(err, ErrDanglingLink) {
		t.Errorf("link to nothing: %v", err)
	}
}

// F22: a place that cannot be written is found by Create.
func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, want := range map[string]error{
		dir:                                ErrIsFolder,
		filepath.Join(dir, "new") + "/":    ErrIsFolder,
		filepath.Join(dir, "no", "x.csv"):  fs.ErrNotExist,
		filepath.Join(dir, "a\x00b"):       syscall.EINVAL,
		filepath.Join(dir, longName("é")):  syscall.ENAMETOOLONG,
		filepath.Join("/proc", "gagg.csv"): fs.ErrNotExist,
	} {
		if f, err := Create(path); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", path, err, want)
			if f != nil {
				f.Abort()
			}
		}
	}
	if _, err := Create(""); err == nil {
		t.Error("an empty name was taken")
	}
	expectOnly(t, dir, "none", "")
}

func longName(s string) string { return strings.Repeat(s, 300) }

// A base name as long as the system allows still gets its hidden file.
func TestCreateLongName(t *testing.T) {
	t.Parallel()
	dir, name := t.TempDir(), strings.Repeat("x", 255)
	if err := writeAll(osFS{}, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	expectOnly(t, dir, name, newContent)
}

// F25: a reader that went away is seen as EPIPE.
func TestFileBrokenPipe(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	if err := writeAll(osFS{}, fmt.Sprintf("/dev/fd/%d", w.Fd())); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v", err)
	}
}

// A file behind /dev/fd/N is continued where the process is, and stays open.
func TestFileDescriptor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	w, _ := os.Create(path)
	defer w.Close()
	w.WriteString("before ")
	if err := writeAll(osFS{}, fmt.Sprintf("/dev/fd/%d", w.Fd())); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString(" after"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "before "+newContent+" after" {
		t.Errorf("got %q", got)
	}
}

func TestFileAbort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "x"))
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("half"))
	f.Abort()
	f.Abort()
	if f.Commit() == nil {
		t.Error("Commit after Abort succeeded")
	}
	expectOnly(t, dir, "x", "")
}

// An output that another goroutine gives up stays as it was, whatever the
// writer still does; one that has appeared is not given up.
func TestFileGiveUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		for range 100 {
			f.Write([]byte("more"))
		}
	})
	if !f.GiveUp() || f.GiveUp() {
		t.Error("GiveUp: want true, then false")
	}
	expectOnly(t, dir, "x", "")
	bounded.Wait(t, "the goroutines of the test", writer.Wait)
	if err := f.Commit(); !errors.Is(err, errGivenUp) {
		t.Errorf("Commit after GiveUp: %v", err)
	}
	f.Abort()
	if err := writeAll(osFS{}, path); err != nil {
		t.Fatal(err)
	}
	if f, err = Create(path); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil || f.GiveUp() {
		t.Errorf("GiveUp after Commit, %v", err)
	}
}

// F26: device and inode decide.
func TestSameFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	os.MkdirAll(at("data", "sub"), 0o755)
	os.WriteFile(at("data", "in.parquet"), nil, 0o644)
	os.Link(at("data", "in.parquet"), at("hard"))
	os.Symlink(at("data", "in.parquet"), at("soft"))
	os.Symlink(at("data", "sub"), at("softdir"))
	for _, c := range []struct {
		output, input string
		want          string
	}{
		{at("data", "in.parquet"), at("data", "in.parquet"), "same"},
		{at("data", ".", "sub", "..", "in.parquet"), at("data", "in.parquet"), "same"},
		{at("hard"), at("data", "in.parquet"), "same"},
		{at("soft"), at("data", "in.parquet"), "same"},
		{at("data", "in.parquet"), at("soft"), "same"},
		{at("data", "new.csv"), at("data"), "inside"},
		{at("data", "sub", "new.csv"), at("data"), "inside"},
		{at("softdir", "new.csv"), at("data"), "inside"},
		{at("soft"), at("data"), "inside"},
		{at("new.csv"), at("data"), ""},
		{at("data", "new.csv"), at("data", "in.parquet"), ""},
		{"/dev/stdout", "-", ""},
		{"/dev/stdout", at("data"), ""},
		{at("no", "new.csv"), at("none"), ""},
	} {
		err := SameFile(c.output, []string{"-", c.input})
		var overlap *OverlapError
		got := ""
		if errors.As(err, &overlap) {
			got = map[bool]string{false: "same", true: "inside"}[overlap.Inside]
		}
		if got != c.want {
			t.Errorf("%s and %s: got %q (%v), want %q", c.output, c.input, got, err, c.want)
		}
	}
}
