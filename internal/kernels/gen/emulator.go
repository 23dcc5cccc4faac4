package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gagg-dev/gagg/internal/cuda/emu"
)

// writeEmulator writes, into a folder of build outputs, C++ that lets the
// emulator run our kernels: for each source <file>.cc, which compiles the
// source for the host and unpacks its kernels' parameters, and table.cc, the
// emulator's list of them (internal/cuda/emu/src/emu.h). They are compiled with the
// root of the module among the include paths. The kernels' names are those of
// the committed PTX.
func writeEmulator(root, out string) error {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(out, "*.cc"))
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	var all []entry
	for _, f := range folders {
		sources, err := f.sources(root)
		if err != nil {
			return err
		}
		for _, source := range sources {
			ptx, err := os.ReadFile(filepath.Join(root, f.file("ptx/"+source+".ptx")))
			if err != nil {
				return fmt.Errorf("%w (is go generate ./internal/kernels due?)", err)
			}
			entries, err := readEntries(ptx)
			if err != nil {
				return fmt.Errorf("%s.ptx: %w", source, err)
			}
			all = append(all, entries...)
			file := filepath.Join(out, f.name()+"_"+source+".cc")
			keep[file] = true
			if err := writeChanged(file, emulatorSource(f.file(source+".cu"), entries)); err != nil {
				return err
			}
		}
	}
	table := filepath.Join(out, "table.cc")
	keep[table] = true
	for _, file := range old {
		if !keep[file] {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	from, err := emu.Kernels(root)
	if err != nil {
		return err
	}
	return writeChanged(table, emulatorTable(all, from))
}

// writeChanged leaves a file that is right already alone, so that make does too.
func writeChanged(file, text string) error {
	old, err := os.ReadFile(file)
	if err == nil && string(old) == text {
		return nil
	}
	return os.WriteFile(file, []byte(text), 0o666)
}

// emulatorSource compiles a source inside an unnamed namespace: the functions of
// a header may then be in several sources of one library.
func emulatorSource(source string, entries []entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, `// Made by internal/kernels/gen from %s.
#ifndef GAGG_EMULATOR
#define GAGG_EMULATOR
#endif
#include "internal/kernels/device.cuh"

namespace {
#include "%s"
}  // namespace

#include "internal/kernels/gen/unpack.h"

`, source, source)
	for _, e := range entries {
		fmt.Fprintf(&b, "static_assert(params_bytes(%s) == %d, \"%s: the parameters differ from the PTX's\");\n", e.name, e.bytes(), e.name)
		fmt.Fprintf(&b, "void emu_wrap_%s(const void* params) { unpack(%s, params); }\n", e.name, e.name)
	}
	return b.String()
}

func emulatorTable(all []entry, from string) string {
	var b strings.Builder
	b.WriteString("// Made by internal/kernels/gen.\n#include \"internal/cuda/emu/src/emu.h\"\n\n")
	for _, e := range all {
		fmt.Fprintf(&b, "void emu_wrap_%s(const void* params);\n", e.name)
	}
	b.WriteString("\nconst EmuKernel emu_kernels[] = {\n")
	for _, e := range all {
		fmt.Fprintf(&b, "  {\"%s\", emu_wrap_%s, %d},\n", e.name, e.name, e.bytes())
	}
	fmt.Fprintf(&b, "};\nconst uint32_t emu_kernel_count = %d;\nconst char* const emu_kernels_from = %q;\n", len(all), from)
	return b.String()
}
