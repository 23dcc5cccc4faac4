package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEmulatorSources(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	put(t, dir, "internal/kernels/one.cu", "")
	put(t, dir, "internal/kernels/ptx/one.ptx", ".visible .entry one_take(\n\t.param .u64 a,\n\t.param .u8 b\n)\n")
	put(t, dir, "internal/kernels/ptx/MANIFEST", "")
	put(t, out, "kernels_gone.cc", "")
	if err := writeEmulator(dir, out); err != nil {
		t.Fatal(err)
	}
	source := string(read(t, out, "kernels_one.cc"))
	for _, want := range []string{
		`#include "internal/kernels/one.cu"`,
		"static_assert(params_bytes(one_take) == 9",
		"void emu_wrap_one_take(const void* params) { unpack(one_take, params); }",
	} {
		if !strings.Contains(source, want) {
			t.Errorf("kernels_one.cc lacks %q:\n%s", want, source)
		}
	}
	table := string(read(t, out, "table.cc"))
	if !strings.Contains(table, `{"one_take", emu_wrap_one_take, 9},`) {
		t.Errorf("table.cc:\n%s", table)
	}
	put(t, dir, "internal/kernels/ptx/MANIFEST", "one.ptx=0\n")
	if err := writeEmulator(dir, out); err != nil {
		t.Fatal(err)
	}
	if string(read(t, out, "table.cc")) == table {
		t.Errorf("the table does not tell from which kernels it is:\n%s", table)
	}
	if _, err := os.Stat(filepath.Join(out, "kernels_gone.cc")); err == nil {
		t.Error("the source of a family that is gone is still there")
	}
	put(t, dir, "internal/kernels/two.cu", "")
	if err := writeEmulator(dir, out); err == nil || !strings.Contains(err.Error(), "go generate") {
		t.Errorf("a source without PTX: %v", err)
	}
}
