package spill

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// What is spooled is read back at any place; the limit is that of all files, of all spaces that
// share it, and what was written before it was reached is given back with the file.
func TestSpool(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	s := openSpace(t, Config{Limit: limit})
	other := openSpace(t, Config{Disk: s.disk})
	f, g := openFile(t, s), openFile(t, other)
	data := bytes.Repeat([]byte("0123456789"), 6000)
	if err := f.Spool(iotest.HalfReader(bytes.NewReader(data)), make([]byte, 7000)); err != nil || f.Size() != 60_000 {
		t.Fatal(f.Size(), err)
	}
	got := make([]byte, 20_000)
	if n, err := f.ReadAt(got, 30_001); n != len(got) || err != nil || !bytes.Equal(got, data[30_001:50_001]) {
		t.Error(n, err)
	}
	if n, err := f.ReadAt(got, 59_000); n != 1000 || !errors.Is(err, io.EOF) {
		t.Error(n, err)
	}
	if err := g.Spool(bytes.NewReader(data), make([]byte, 7000)); !errors.Is(err, ErrExhausted) {
		t.Error(err)
	}
	if err := g.Close(); err != nil || s.Used() != 60_000 {
		t.Error(s.Used(), err)
	}
	broken := errors.New("broken")
	if err := f.Spool(iotest.ErrReader(broken), make([]byte, 10)); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := f.Spool(iotest.ErrReader(io.ErrUnexpectedEOF), make([]byte, 10)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("what is cut is no end:", err)
	}
	if err := f.Close(); err != nil || s.Used() != 0 {
		t.Error(s.Used(), err)
	}
	if err := f.Spool(bytes.NewReader(data), make([]byte, 10)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}
