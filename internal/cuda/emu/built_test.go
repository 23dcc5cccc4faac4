package emu_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The emulator knows the kernels that it was built from, and tells when there are others.
func TestFresh(t *testing.T) {
	_, e := open(t)
	check(t, e.Fresh())
	root := t.TempDir()
	ptx, below := filepath.Join(root, "internal/kernels/ptx"), filepath.Join(root, "bench")
	check(t, os.MkdirAll(ptx, 0o777))
	check(t, os.Mkdir(below, 0o777))
	t.Chdir(below)
	check(t, e.Fresh()) // no kernels to compare with
	check(t, os.WriteFile(filepath.Join(ptx, "MANIFEST"), []byte("pages.ptx=0\n"), 0o666))
	if err := e.Fresh(); err == nil || !strings.Contains(err.Error(), "make emu") {
		t.Errorf("with other kernels than it was built from: %v", err)
	}
}
