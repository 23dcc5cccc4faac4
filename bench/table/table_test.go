package table

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// text is a table that is what it says, or fails behind it.
type text struct {
	is  string
	err error
}

func (t text) WriteParquet(w io.Writer) error {
	if _, err := io.WriteString(w, t.is); err != nil {
		return err
	}
	return t.err
}

// A file is there whole, in a folder made for it, or what was there before stays.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b")
	if err := Write(path, text{is: "whole"}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := Write(path, text{"half", broken}); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "whole" {
		t.Errorf("%q, %v", got, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
}
