package spill

import (
	"errors"
	"slices"
	"testing"
)

func openSpace(t *testing.T, c Config) *Space {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openFile(t *testing.T, s *Space) *File {
	t.Helper()
	f, err := s.File()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What was appended is read back, in any order, into memory of any size.
func TestReadBack(t *testing.T) {
	t.Parallel()
	f := openFile(t, openSpace(t, Config{}))
	blocks := [][]byte{nil, []byte("one"), make([]byte, 100_000), []byte("last")}
	var extents []Extent
	for _, b := range blocks {
		e, err := f.Append(b, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		extents = append(extents, e)
	}
	dst := make([]byte, 3, 10)
	for i := len(blocks) - 1; i >= 0; i-- {
		got, err := f.Read(extents[i], dst)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, blocks[i]) {
			t.Errorf("block %d differs", i)
		}
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := openSpace(t, Config{})
	f := openFile(t, s)
	e, err := f.Append([]byte("x"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Append([]byte("x"), 0, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
	if _, err := f.Read(e, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Read after Close: %v", err)
	}
	if _, err := s.File(); !errors.Is(err, ErrClosed) {
		t.Errorf("File after Close: %v", err)
	}
}
