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

// writeTree writes two files, one in a folder.
func writeTree(fsys fileSystem, path string) error {
	t, err := createTree(fsys, path)
	if err != nil {
		return err
	}
	defer t.Abort()
	for _, name := range []string{"a", "k=1/b"} {
		f, err := t.Create(name)
		if err != nil {
			return err
		}
		if _, err := f.Write([]byte(newContent)); err != nil {
			_ = f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return t.Commit()
}

// expectTree wants dir to hold the tree out with its two files; or, if there was one, an empty
// folder; or nothing.
func expectTree(t *testing.T, dir string, whole, empty bool) {
	t.Helper()
	var got []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		got = append(got, strings.TrimPrefix(path, dir))
		return err
	})
	want := []string{""}
	switch {
	case whole:
		want = []string{"", "/out", "/out/a", "/out/k=1", "/out/k=1/b"}
	case empty:
		want = []string{"", "/out"}
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q, error %v", got, want, err)
	}
}

// Whichever call fails, the tree appears whole or not at all, nothing hidden is left, and the run
// has an error. An empty folder in its place may be gone before the tree comes, and nothing else
// may happen to it.
func TestTreeFailures(t *testing.T) {
	t.Parallel()
	for _, forever := range []bool{false, true} {
		for _, empty := range []bool{false, true} {
			for n := 1; ; n++ {
				dir := t.TempDir()
				path := filepath.Join(dir, "out")
				if empty {
					os.Mkdir(path, 0o755)
				}
				fsys := &failingFS{failAt: n, forever: forever}
				err := writeTree(fsys, path)
				if len(fsys.failed) == 0 {
					if err != nil || n < 20 {
						t.Fatalf("%d calls, none failed, yet: %v", n-1, err)
					}
					expectTree(t, dir, true, false)
					break
				}
				// of the hidden folder: another was made, or nothing written
				if op := fsys.failed[0]; err == nil && (op == "stat" || op == "close") {
					expectTree(t, dir, true, false)
					continue
				}
				var e *Error
				if !errors.As(err, &e) || !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") {
					t.Errorf("call %d (%s): error: %v", n, fsys.failed[0], err)
				}
				// in place, but not sure to last
				whole := e != nil && e.Op == "sync the folder above"
				expectTree(t, dir, whole, empty && e != nil && e.Op != "rename to")
			}
		}
	}
}

// A folder with something in it, a file and a link to nothing are no place for a tree.
func TestTreeRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "full"), 0o755)
	os.WriteFile(filepath.Join(dir, "full", "x"), nil, 0o644)
	os.Symlink("nowhere", filepath.Join(dir, "dangling"))
	for name, want := range map[string]error{"full": ErrNotEmpty, "full/x": nil, "dangling": ErrDanglingLink, "none/out": fs.ErrNotExist} {
		if _, err := CreateTree(filepath.Join(dir, name)); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
}

// What comes into the empty folder while the tree is written stays, and the tree does not appear.
func TestTreeKeepsWhatCame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	os.Mkdir(path, 0o755)
	tree, err := CreateTree(path)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(path, "x"), []byte("came"), 0o644)
	if err := tree.Commit(); err == nil {
		t.Error("a folder with a file in it was replaced")
	}
	expectOnly(t, path, "x", "came")
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// The tree has the mode that the umask gives, and what a killed process left of it goes.
func TestTreeSweeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	os.MkdirAll(hiddenName(path)+"/k=1", 0o700)
	os.Mkdir(filepath.Join(dir, "like"), 0o777)
	living, err := CreateTree(path) // a tree of the same name whose process lives
	if err != nil {
		t.Fatal(err)
	}
	if err := writeTree(osFS{}, path); err != nil {
		t.Fatal(err)
	}
	like, _ := os.Stat(filepath.Join(dir, "like"))
	if got, err := os.Stat(path); err != nil || got.Mode() != like.Mode() {
		t.Errorf("mode %v, want %v, error %v", got.Mode(), like.Mode(), err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 3 {
		t.Errorf("want what is hidden of the living, like and out, got %v", names)
	}
	living.Abort()
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
}

// A tree that another goroutine gives up does not appear, whatever the writer still does.
func TestTreeGiveUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree, err := CreateTree(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range 1000 {
			f, err := tree.Create(fmt.Sprintf("k=%d/x", i))
			if err != nil {
				return
			}
			f.Write([]byte("more"))
			f.Close()
		}
	})
	if !tree.GiveUp() || tree.GiveUp() {
		t.Error("GiveUp: want true, then false")
	}
	bounded.Wait(t, "the goroutines of the test", writer.Wait)
	if err := tree.Commit(); err == nil {
		t.Error("Commit after GiveUp succeeded")
	}
	tree.Abort()
	expectTree(t, dir, false, false)
}
