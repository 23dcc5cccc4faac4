//go:build unix

package sink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

func TestFileModes(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	dir := t.TempDir()
	for _, c := range []struct {
		name     string
		existing fs.FileMode
		want     fs.FileMode
	}{{"new", 0, 0o640}, {"private", 0o600, 0o600}, {"shared", 0o664, 0o664}} {
		path := filepath.Join(dir, c.name)
		if c.existing != 0 {
			os.WriteFile(path, nil, c.existing)
			os.Chmod(path, c.existing)
		}
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Stat(f.hidden); info.Mode().Perm() != 0o600 {
			t.Errorf("%s: hidden file has mode %v", c.name, info.Mode())
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Stat(path); info.Mode().Perm() != c.want {
			t.Errorf("%s: mode %v, want %v", c.name, info.Mode().Perm(), c.want)
		}
	}
}

// F24: a FIFO and a device are streamed to, and stay what they are.
func TestFileStreams(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	got := make(chan string)
	go func() {
		b, _ := os.ReadFile(fifo)
		got <- string(b)
	}()
	if err := writeAll(osFS{}, fifo); err != nil {
		t.Fatal(err)
	}
	if s := bounded.Receive(t, "the reader of the FIFO", got); s != newContent {
		t.Errorf("through the FIFO came %q", s)
	}
	if err := writeAll(osFS{}, "/dev/null"); err != nil {
		t.Error(err)
	}
	if info, _ := os.Stat("/dev/null"); info.Mode().IsRegular() {
		t.Error("/dev/null is a regular file now")
	}
	if err := writeAll(osFS{}, "/dev/full"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("/dev/full: %v", err)
	}
}
