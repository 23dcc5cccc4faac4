package filepool

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Of a file that is in the page cache nothing is asked for; of one that is not, exactly the pieces
// that are not there. Reading gives the bytes of the file in any case.
func TestAhead(t *testing.T) {
	t.Parallel()
	data := make([]byte, 5*Piece+Piece/2)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(data)
	path := filepath.Join(t.TempDir(), "x")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	p := new(Pool)
	defer p.Close()
	s, size := p.File(path), int64(len(data))
	if !cached(int(f.Fd()), 0, size) {
		t.Skip("the system does not tell what is in the page cache")
	}
	if asked := s.Ahead(0, size); asked != 0 {
		t.Errorf("%d bytes were asked for that are in memory", asked)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	missing := int64(0)
	for off := int64(0); off < size; off += Piece {
		if n := min(Piece, size-off); !cached(int(f.Fd()), off, n) {
			missing += n
		}
	}
	if missing == 0 {
		t.Skip("the file system keeps its files in memory")
	}
	if asked := s.Ahead(0, size); asked != missing {
		t.Errorf("%d bytes were asked for of %d", asked, missing)
	}
	got := make([]byte, size)
	if _, err := s.ReadAt(got, 0); err != nil || !bytes.Equal(got, data) {
		t.Errorf("other bytes were read, %v", err)
	}
	if asked := s.Ahead(0, size); asked != 0 {
		t.Errorf("%d bytes were asked for that have been read", asked)
	}
}

// Ahead of what is no file, or of a file that cannot be opened, does nothing.
func TestAheadOfNoFile(t *testing.T) {
	t.Parallel()
	p := new(Pool)
	defer p.Close()
	for _, s := range []*Source{p.Reader(bytes.NewReader(make([]byte, 10))), p.File(filepath.Join(t.TempDir(), "none"))} {
		if asked := s.Ahead(0, 10); asked != 0 {
			t.Errorf("%d bytes were asked for", asked)
		}
	}
}
