package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/kernels/image"
)

// These tests need no compiler: they compare what is generated with what it was
// generated from.

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatalf("%v (is go generate ./internal/kernels due?)", err)
	}
	return content
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestManifest(t *testing.T) {
	for _, f := range folders {
		m, err := readManifest(root(t), f)
		if err != nil {
			t.Fatal(err)
		}
		sources, err := f.sources(root(t))
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(root(t), f.dir, "ptx/*.*"))
		if err != nil {
			t.Fatal(err)
		}
		want := len(sources)
		if f.hasCode() {
			want *= 2
		}
		if len(m) != want || len(files) != want {
			t.Errorf("%s has %d sources, %d files made of them, and %d lines in its manifest", f.dir, len(sources), len(files), len(m))
		}
		for _, source := range sources {
			checkLine(t, f, source, facts(m[source+".ptx"]))
			if f.hasCode() {
				checkCode(t, f, source, facts(m[source+".code"]))
			}
		}
	}
}

// checkLine compares a source's line of the manifest with the files it names.
func checkLine(t *testing.T, f folder, source string, line map[string]string) {
	t.Helper()
	if line["flags"] != flagsHash() {
		t.Errorf("%s.cu was compiled with other flags than those of today", source)
	}
	if got := image.Fingerprint(read(t, root(t), f.file("ptx/"+source+".ptx"))); got != line[source+".ptx"] {
		t.Errorf("%s.ptx is not what the manifest says", source)
	}
	inputs := 0
	for file, want := range line {
		if !strings.Contains(file, "/") {
			continue
		}
		inputs++
		if got := image.Fingerprint(read(t, root(t), file)); got != want {
			t.Errorf("%s.ptx was made from another %s than today's (is go generate ./internal/kernels due?)", source, file)
		}
	}
	for _, file := range []string{f.file(source + ".cu"), shipped.file("device.cuh")} {
		if line[file] == "" {
			t.Errorf("the manifest does not name %s among the %d files that %s.ptx was made from", file, inputs, source)
		}
	}
}

// checkCode compares a source's code file with the manifest and with the PTX (CODE-FRESH).
func checkCode(t *testing.T, f folder, source string, line map[string]string) {
	t.Helper()
	ptx, code := read(t, root(t), f.file("ptx/"+source+".ptx")), read(t, root(t), f.file("ptx/"+source+".code"))
	if image.Fingerprint(code) != line[source+".code"] {
		t.Errorf("%s.code is not what the manifest says", source)
	}
	if image.Fingerprint(ptx) != line["ptx"] {
		t.Errorf("%s.code was made from another %s.ptx than today's (is make ptx due? Without ptxas it drops the code)", source, source)
	}
	if len(code) == 0 {
		t.Logf("%s has no machine code: make build/ptxas ptx", source)
		return
	}
	entries, err := readEntries(ptx)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range architectures {
		kernels, err := image.Unpack(code, ptx, a/10, a%10)
		if err != nil || len(kernels) != len(entries) {
			t.Errorf("%s.code: %d kernels for sm_%d, the PTX has %d: %v", source, len(kernels), a, len(entries), err)
		}
	}
}

func TestStatusIsFresh(t *testing.T) {
	all, err := readStatus(string(read(t, root(t), shipped.file("status.def"))))
	if err != nil {
		t.Fatal(err)
	}
	goText, err := statusGo(all)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"status_gen.go": goText, "status_gen.cuh": statusHeader(all)} {
		if !bytes.Equal(read(t, root(t), shipped.file(name)), want) {
			t.Errorf("%s is not made from today's status.def", name)
		}
	}
}

// Every kernel of the PTX has a launch method that hands over its parameters:
// their offsets, sizes and number, whatever the machine Go compiles for.
func TestLaunchesMatchPTX(t *testing.T) {
	checker := newChecker(t)
	for _, f := range folders {
		checker.check(f)
		sources, err := f.sources(root(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			entries, err := readEntries(read(t, root(t), f.file("ptx/"+source+".ptx")))
			if err != nil {
				t.Errorf("%s.ptx: %v", source, err)
			}
			family, err := f.family(root(t), source)
			if err != nil {
				t.Error(err)
			}
			launches := checker.launches(f, source, family)
			if len(launches.methods) != len(entries) || len(launches.names) != len(entries) {
				t.Errorf("%s: %d kernels, %d of them looked up, %d launch methods", source, len(entries), len(launches.names), len(launches.methods))
				continue
			}
			for _, e := range entries {
				checker.checkEntry(f, e, launches, cmp.Or(family, source)+strings.TrimPrefix(e.name, source))
			}
		}
	}
}

// checkEntry compares a kernel's parameters with the struct its method, which goes by another
// name, hands over.
func (c *checker) checkEntry(f folder, e entry, launches launches, name string) {
	index := slices.Index(launches.names, e.name)
	size, launched := launches.methods[index]
	switch {
	case index < 0 || !launched:
		c.t.Errorf("kernel %s has no launch method", e.name)
	case size != e.bytes():
		c.t.Errorf("kernel %s takes %d bytes of parameters, its method hands over %d", e.name, e.bytes(), size)
	}
	for _, machine := range []string{"amd64", "arm64", "386"} {
		if got := c.params(f, lower(name)+"Args", machine); !slices.Equal(got, withoutAlign(e.params)) {
			c.t.Errorf("kernel %s: PTX has parameters %v, Go on %s %v", e.name, withoutAlign(e.params), machine, got)
		}
	}
}

func withoutAlign(params []param) []param {
	var plain []param
	for _, p := range params {
		plain = append(plain, param{offset: p.offset, size: p.size})
	}
	return plain
}
