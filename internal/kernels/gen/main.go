// Command gen makes what a program needs to launch the kernels of
// internal/kernels and internal/kernels/kerneltest. For each source
// <file>.cu of these folders it writes
//
//	ptx/<file>.ptx   what clang made of it: no comments, no file lines
//	ptx/<file>.code  what ptxas made of that, for some devices (package image); not of kerneltest
//	<file>_gen.go    a Go type that loads this PTX, with one typed launch method a kernel
//	<family>_gen.go  that Go type once for the sources that name a family, whose kernels are alike
//	ptx/MANIFEST     lines with the hashes of the PTX, of each source it was made from, and of the code
//
// and for each header whose structs kernels are handed, <header>_cuh_gen.go with
// a Go struct of the same layout. status.def becomes status_gen.cuh and
// status_gen.go; kerneltest/layout.cu is a kernel that reports the layout of
// all these structs, so that a test can ask the device itself.
//
// # Rules for a source
//
//   - Its kernels are extern "C" and named <file>_<rest>; <rest> names the Go
//     method: pages_get_corw of pages.cu is (*Pages).GetCorw.
//   - A line "// gen:family <name>" says that its kernels differ from those of the other sources
//     with that line in the names of the sources only.
//   - Parameters are the integer types of stdint.h, bool, float, double, any
//     pointer (cuda.Ptr in Go), and structs passed by value.
//   - Such a struct, and each one that a parameter or such a struct points to
//     or holds, is declared outside any namespace as "struct Name {" at the start of
//     a line, with members of these same types, arrays of them and structs of
//     such members. (A pointer to another kind of struct is a plain pointer.)
//
// The kernels and structs are read from clang's syntax tree, so macros may make
// them. That our idea of a layout is the compiler's is checked where the
// kernel is compiled (static_assert, for the device and for the emulator)
// and where the Go twin is (a constant expression).
//
// Usage, anywhere below the root of the module:
//
//	gen                          everything; what is stale is removed
//	gen -only pages,pages_bench  these sources; structs and layout.cu in any case
//	gen -check                   writes nothing, and names what differs
//	gen -ptxas build/ptxas       the assembler of machine code; without one, code of PTX that
//	                             has not changed stays, other code is dropped
//	gen -emulator folder         C++ that runs the kernels on the CPU; needs no clang
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command: 0 for success, 1 for a failure or, of a check, a
// difference, 2 for arguments that make no sense.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "names of sources, without .cu, separated by commas; default: all")
	check := flags.Bool("check", false, "write nothing, name what differs")
	emulator := flags.String("emulator", "", "write the emulator's C++ into this folder, and nothing else")
	clang := flags.String("clang", "clang-19", "the compiler")
	ptxas := flags.String("ptxas", "ptxas", "the assembler of machine code, which there need not be")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return 2
	}
	root, err := moduleRoot()
	switch {
	case err != nil:
	case *emulator != "":
		err = writeEmulator(root, *emulator)
	default:
		err = generateAll(root, *clang, *ptxas, split(*only), *check, stdout)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "gen:", err) // nobody is left to tell that this fails
		return 1
	}
	return 0
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// moduleRoot is the folder of the nearest go.mod above the working folder.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod here or above")
		}
		dir = parent
	}
}
