package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/kernels/image"
)

// A module of its own with two families that share a struct.
var smallModule = map[string]string{
	"go.mod":                      "module x\n",
	"internal/kernels/status.def": "0 ok all is well\n1 out_of_pages no free page\n",
	"internal/kernels/device.cuh": `#pragma once
#include <stdint.h>
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
`,
	"internal/kernels/pool.cuh": `#pragma once
struct Inner {
  uint64_t wide;
};
struct Pool {
  uint8_t a;
  uint32_t b[3];
  Inner* inner;
};
`,
	"internal/kernels/one.cu": `#include "device.cuh"
#include "pool.cuh"
extern "C" __global__ void one_take(Pool pool, uint32_t* out) { *out = pool.b[1]; }
extern "C" __global__ void one_nothing() {}
`,
	"internal/kernels/kerneltest/two.cu": `#include "../device.cuh"
#include "../pool.cuh"
#define KERNEL(name) \
  extern "C" __global__ void two_##name(const Pool* pool, uint8_t type) { if (pool->a == type) __builtin_trap(); }
KERNEL(get)
KERNEL(put)
`,
}

// write makes a module of the small one, with changes, and returns its root.
func write(t *testing.T, changes map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("clang-19"); err != nil {
		t.Skip("clang-19 is not installed")
	}
	dir := t.TempDir()
	for _, files := range []map[string]string{smallModule, changes} {
		for name, content := range files {
			put(t, dir, name, content)
		}
	}
	return dir
}

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

const noAssembler = "/none"

func generate(t *testing.T, dir string, check bool, only ...string) error {
	t.Helper()
	return generateAll(dir, "clang-19", noAssembler, only, check, io.Discard)
}

func TestGenerate(t *testing.T) {
	dir := write(t, nil)
	if err := generate(t, dir, false); err != nil {
		t.Fatal(err)
	}
	launches := string(read(t, dir, "internal/kernels/kerneltest/two_gen.go"))
	for _, want := range []string{
		"func LoadTwo(t *cuda.Thread) (*Two, error) {",
		"func (k *Two) Put(stream *cuda.Stream, grid cuda.Grid, pool cuda.Ptr, typeArg uint8) error {",
		"return k.Enqueue(stream, 1, grid, unsafe.Pointer(&args), 9)",
	} {
		if !strings.Contains(launches, want) {
			t.Errorf("two_gen.go lacks %q:\n%s", want, launches)
		}
	}
	structs := string(read(t, dir, "internal/kernels/pool_cuh_gen.go"))
	if !strings.Contains(structs, "type Inner struct {\n\tWide uint64\n}") || !strings.Contains(structs, "B     [3]uint32") {
		t.Errorf("pool_cuh_gen.go:\n%s", structs)
	}
	for _, only := range [][]string{nil, {"one"}, {"two"}} {
		if err := generate(t, dir, true, only...); err != nil {
			t.Errorf("a second time makes something else: %v", err)
		}
	}
}

// Machine code is made of PTX where there is an assembler. Where there is none it stays while the
// PTX does, and is dropped with it.
func TestCode(t *testing.T) {
	dir := write(t, nil)
	fake := filepath.Join(dir, "ptxas")
	put(t, dir, "ptxas", "#!/bin/sh\n[ $1 = --version ] && echo 'tools, release 1.2, V1.2.3' && exit\n{ echo $2; cat $5; } >$4\n")
	if err := os.Chmod(fake, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := generateAll(dir, "clang-19", fake, nil, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	unpack := func() []byte {
		t.Helper()
		ptx := read(t, dir, "internal/kernels/ptx/one.ptx")
		kernels, err := image.Unpack(read(t, dir, "internal/kernels/ptx/one.code"), ptx, 8, 6)
		if err != nil {
			t.Fatal(err)
		}
		return kernels["one_take"]
	}
	if code := string(unpack()); !strings.HasPrefix(code, "-arch=sm_86\n.version") || !strings.Contains(code, "one_take") || strings.Contains(code, "one_nothing") {
		t.Errorf("code of one_take:\n%s", code)
	}
	manifest := string(read(t, dir, "internal/kernels/ptx/MANIFEST"))
	if !strings.Contains(manifest, "ptxas=V1.2.3") || strings.Contains(string(read(t, dir, "internal/kernels/kerneltest/ptx/MANIFEST")), "ptxas") {
		t.Errorf("the manifest:\n%s", manifest)
	}
	if err := generate(t, dir, true); err != nil {
		t.Errorf("without an assembler: %v", err)
	}
	put(t, dir, "internal/kernels/one.cu", strings.Replace(smallModule["internal/kernels/one.cu"], "b[1]", "b[2]", 1))
	var report strings.Builder
	if err := generateAll(dir, "clang-19", noAssembler, nil, false, &report); err != nil {
		t.Fatal(err)
	}
	if code := read(t, dir, "internal/kernels/ptx/one.code"); len(code) > 0 || !strings.Contains(report.String(), "one.code: there is no ptxas") {
		t.Errorf("code of PTX that has changed: %d bytes; the generator says\n%s", len(code), &report)
	}
	if err := generate(t, dir, true); err != nil {
		t.Errorf("a second time makes something else: %v", err)
	}
}

// A check writes nothing and names what a change has made stale.
func TestCheck(t *testing.T) {
	dir := write(t, nil)
	if err := generate(t, dir, false); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "internal/kernels/pool.cuh", strings.Replace(smallModule["internal/kernels/pool.cuh"], "[3]", "[4]", 1))
	var report strings.Builder
	if err := generateAll(dir, "clang-19", noAssembler, nil, true, &report); err == nil {
		t.Error("a change of a struct went unseen")
	}
	for _, file := range []string{"pool_cuh_gen.go", "ptx/one.ptx", "one_gen.go", "ptx/MANIFEST"} {
		if !strings.Contains(report.String(), file) {
			t.Errorf("the check does not name %s:\n%s", file, report.String())
		}
	}
	if structs := string(read(t, dir, "internal/kernels/pool_cuh_gen.go")); !strings.Contains(structs, "[3]uint32") {
		t.Error("the check wrote a file")
	}
}

// What was made from a source that is gone goes too, but not by -only.
func TestStale(t *testing.T) {
	dir := write(t, nil)
	if err := generate(t, dir, false); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "internal/kernels/kerneltest/two.cu")); err != nil {
		t.Fatal(err)
	}
	exists := func() bool {
		_, err := os.Stat(filepath.Join(dir, "internal/kernels/kerneltest/two_gen.go"))
		return err == nil
	}
	if err := generate(t, dir, false, "one"); err != nil || !exists() {
		t.Errorf("with -only: two_gen.go is there: %v, %v", exists(), err)
	}
	if err := generate(t, dir, false, "two"); err == nil || !strings.Contains(err.Error(), "no two.cu") {
		t.Errorf("a source that is not there: %v", err)
	}
	if err := generate(t, dir, false); err != nil || exists() {
		t.Errorf("two_gen.go is there: %v, %v", exists(), err)
	}
}

// Sources of a family have one Go type, and kernels of the same parameters.
func TestFamily(t *testing.T) {
	const head = "// gen:family shape\n#include \"device.cuh\"\n"
	small := func(parameter string) string {
		return head + `extern "C" __global__ void small_add(` + parameter + ` n) { if (n == 7) __builtin_trap(); }`
	}
	dir := write(t, map[string]string{
		"internal/kernels/small.cu": small("uint32_t"),
		"internal/kernels/large.cu": strings.ReplaceAll(small("uint32_t"), "small", "large"),
	})
	if err := generate(t, dir, false); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"shape_gen.go": "func (k *Shape) Add(stream *cuda.Stream, grid cuda.Grid, n uint32) error {",
		"small_gen.go": "func NewSmall(c *cuda.Context) *Shape { return &Shape{NewFamily(c, &smallSource)} }",
		"large_gen.go": "func NewLarge(c *cuda.Context) *Shape { return &Shape{NewFamily(c, &largeSource)} }",
	} {
		if text := string(read(t, dir, "internal/kernels", file)); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", file, want, text)
		}
	}
	put(t, dir, "internal/kernels/small.cu", small("uint64_t"))
	if err := generate(t, dir, false); err == nil || !strings.Contains(err.Error(), "same family shape") {
		t.Errorf("kernels that differ: %v", err)
	}
}

// A source that breaks a rule is named with the reason, and keeps no other from
// being made.
func TestRules(t *testing.T) {
	const head = "#include \"../device.cuh\"\n"
	for name, test := range map[string]struct{ source, want string }{
		"mangled":    {head + "__global__ void bad_name() {}", `not extern "C"`},
		"wrong name": {head + `extern "C" __global__ void other_name() {}`, "not named bad_"},
		"family":     {head + `extern "C" __global__ void bad_enqueue() {}`, "every family has"},
		"no kernels": {head, "no kernels"},
		"type":       {head + `extern "C" __global__ void bad_type(__int128 x) { (void)x; }`, "cannot be shared"},
		"own struct": {head + "struct Mine {\n  int x;\n};\n" + `extern "C" __global__ void bad_own(Mine m) { (void)m; }`, "belongs into a header"},
		"nested":     {head + "namespace { struct Mine { int x; }; }\n" + `extern "C" __global__ void bad_own(Mine m) { (void)m; }`, "cannot be shared"},
		"syntax":     {head + `extern "C" __global__ void bad_syntax() { undeclared(); }`, "undeclared"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"internal/kernels/kerneltest/bad.cu": test.source})
			err := generate(t, dir, false)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "bad.cu") {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
			read(t, dir, "internal/kernels/kerneltest/two_gen.go")
		})
	}
}

// While a source is broken, the structs that it alone uses stay in Go.
func TestBrokenSource(t *testing.T) {
	dir := write(t, map[string]string{
		"internal/kernels/pool.cuh": smallModule["internal/kernels/pool.cuh"] + "struct Rare {\n  uint32_t n;\n};\n",
		"internal/kernels/rare.cu":  "#include \"device.cuh\"\n#include \"pool.cuh\"\n" + `extern "C" __global__ void rare_get(Rare* r) { r->n = 1; }`,
	})
	if err := generate(t, dir, false); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "internal/kernels/rare.cu", "#error not now\n")
	if err := generate(t, dir, false); err == nil || !strings.Contains(err.Error(), "not now") {
		t.Errorf("got %v, want the error of rare.cu", err)
	}
	if err := generate(t, dir, false, "one"); err != nil {
		t.Errorf("a source that nobody asked for: %v", err)
	}
	if structs := string(read(t, dir, "internal/kernels/pool_cuh_gen.go")); !strings.Contains(structs, "type Rare struct") {
		t.Errorf("struct Rare is gone:\n%s", structs)
	}
}

// A layout that the compiler sees otherwise than we do fails at compile time.
func TestAssertions(t *testing.T) {
	dir := write(t, nil)
	tools, err := findToolkit(dir, "clang-19")
	if err != nil {
		t.Fatal(err)
	}
	wrong := record{name: "Inner", fields: []field{{name: "wide", offset: 8}}, size: 16, align: 8}
	if _, _, err := tools.ptx("internal/kernels/one.cu", assertions([]record{wrong})); err == nil {
		t.Error("a wrong layout compiles")
	}
}
