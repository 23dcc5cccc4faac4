package filepool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"
)

// A pool keeps no more files open than it may, whatever was read, and reads all of them; a file
// that was replaced while it was closed is not read.
func TestPool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p := &Pool{Most: 2}
	var all []*Source
	for _, name := range []string{"a", "b", "c", "d"} {
		all = append(all, p.File(write(name, name+name)))
	}
	for range 2 {
		for i, s := range all {
			n, err := s.Size(0)
			b := make([]byte, 2)
			_, readErr := s.ReadAt(b, 0)
			if n != 2 || err != nil || readErr != nil || b[0] != "abcd"[i] || len(p.open) > 2 {
				t.Fatalf("%q, %d bytes, %d open, %v, %v", b, n, len(p.open), err, readErr)
			}
		}
	}
	write("a", "longer")
	if _, err := all[0].ReadAt(make([]byte, 1), 0); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if err := all[0].Unchanged(); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if err := all[3].Unchanged(); err != nil {
		t.Error(err)
	}
	p.Close()
	if _, err := all[3].ReadAt(make([]byte, 1), 0); !errors.Is(err, ErrClosed) || len(p.open) > 0 {
		t.Errorf("%d open, %v", len(p.open), err)
	}
	if _, err := new(Pool).File(dir).Size(0); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
}

// sequential is a file system whose files can only be read from their beginning.
type sequential struct{ fs.FS }

func (s sequential) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	return struct{ fs.File }{f}, err
}

// Files of an fs.FS are the same, as far as it tells.
func TestPoolFS(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"x": {Data: []byte("text"), ModTime: time.Unix(1, 0)}}
	p := new(Pool)
	defer p.Close()
	s := p.FS(files, "x")
	b := make([]byte, 3)
	if n, err := s.Size(0); n != 4 || err != nil {
		t.Error(n, err)
	}
	if _, err := s.ReadAt(b, 2); !errors.Is(err, io.EOF) || string(b[:2]) != "xt" || s.Unchanged() != nil {
		t.Errorf("%q, %v", b, err)
	}
	files["x"] = &fstest.MapFile{Data: []byte("text"), ModTime: time.Unix(2, 0)}
	if err := s.Unchanged(); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if _, err := p.FS(sequential{files}, "x").Size(0); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
}
