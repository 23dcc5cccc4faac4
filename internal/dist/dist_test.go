package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

var testTime = time.Unix(1_700_000_000, 0).UTC()

// The bytes of an archive depend on what is in it and on the time that is given, and on nothing
// else: REPRODUCIBLE.
func TestArchive(t *testing.T) {
	files := []file{{"gagg", 0o755, []byte("program")}, {"completions/_gagg", 0o644, []byte("script")}, {"LICENSE", 0o644, nil}}
	var first, second bytes.Buffer
	if err := writeArchive(&first, "gagg-1", files, testTime); err != nil {
		t.Fatal(err)
	}
	if err := writeArchive(&second, "gagg-1", []file{files[2], files[0], files[1]}, testTime); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the order of the files shows in the archive")
	}
	z, err := gzip.NewReader(&first)
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("gzip: %v %q", z.ModTime, z.Name)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if !h.ModTime.Equal(testTime) || h.Uid != 0 || h.Gid != 0 || h.Uname != "root" {
			t.Errorf("%s: %v of %d:%d %s", h.Name, h.ModTime, h.Uid, h.Gid, h.Uname)
		}
		if program := h.Name == "gagg-1/gagg" || strings.HasSuffix(h.Name, "/"); program != (h.Mode == 0o755) {
			t.Errorf("%s: mode %o", h.Name, h.Mode)
		}
	}
	if want := "gagg-1/ gagg-1/LICENSE gagg-1/completions/ gagg-1/completions/_gagg gagg-1/gagg"; strings.Join(names, " ") != want {
		t.Errorf("%s, want %s", names, want)
	}
}

// The list of modules has each module that was linked, and the program's checksum; identifiers are
// those that SPDX allows, each once, and relations are between what is there.
func TestSPDX(t *testing.T) {
	r := &release{
		platform: platforms[0], version: "1.2.3", when: testTime, program: file{data: []byte("program")},
		info: &debug.BuildInfo{
			GoVersion: "go1.26.8", Main: debug.Module{Path: "github.com/gagg-dev/gagg"},
			Deps: []*debug.Module{{Path: "example.com/One_Two", Version: "v1.0.0", Sum: "h1:x="}, {Path: "old", Replace: &debug.Module{Path: "example.com/new", Version: "v2.0.0"}}},
		},
	}
	text, err := json.Marshal(r.spdx())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"SPDX-2.3"`, `"2023-11-14T22:13:20Z"`, `"pkg:golang/example.com/one_two@v1.0.0"`, "example.com/!one_!two/@v/v1.0.0.zip",
		// printf program | sha256sum
		`"example.com/new"`, `"pkg:golang/stdlib@1.26.8"`, "1310ca2c8932dbd118668bd97442558a3e1f546b5e15c69699dfbd6024f548d8",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	there := map[string]bool{"SPDXRef-DOCUMENT": true}
	for _, p := range r.spdx().Packages {
		if there[p.ID] || !regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`).MatchString(p.ID) {
			t.Errorf("%s: not an identifier of its own", p.ID)
		}
		there[p.ID] = true
	}
	for _, rel := range r.spdx().Relationships {
		if !there[rel.From] || !there[rel.To] {
			t.Errorf("%v", rel)
		}
	}
}

// The checksums are what sha256sum -c reads, and the commit's time is the environment's where that
// has one.
func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeChecksums(dir); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if want := "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty\n"; err != nil || string(sums) != want {
		t.Errorf("%q, %v", sums, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	if when, err := commitTime(); err != nil || !when.Equal(testTime) {
		t.Errorf("%v, %v", when, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "now")
	if _, err := commitTime(); err == nil {
		t.Error("a time that is none is taken")
	}
}
