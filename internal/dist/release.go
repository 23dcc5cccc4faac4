package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release is what one platform gets.
type release struct {
	platform
	version string // as in v0.1.0, without the v
	program file
	info    *buildinfo.BuildInfo
	texts   []file
	when    time.Time
}

// build compiles the program for a platform.
func build(p platform, scratch string) (*release, error) {
	at := filepath.Join(scratch, p.system+"-"+p.machine)
	if err := compile(at, p); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(at)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	version := strings.TrimPrefix(info.Main.Version, "v")
	if version == "" || version == "(devel)" { // Go has found no version control
		version = "0.0.0-devel"
	}
	return &release{platform: p, version: version, program: file{"gagg", 0o755, data}, info: info}, nil
}

// name is that of the archive and the folder in it.
func (r *release) name() string {
	return fmt.Sprintf("gagg-%s-%s-%s", r.version, r.system, r.machine)
}

// write writes the archive, and the list of modules beside it.
func (r *release) write(into string) error {
	modules, err := json.MarshalIndent(r.spdx(), "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(into, r.name()+".spdx.json"), append(modules, '\n'), 0o644); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(into, r.name()+".tar.gz"))
	if err != nil {
		return err
	}
	return errors.Join(writeArchive(out, r.name(), append(slices.Clone(r.texts), r.program), r.when), out.Close())
}

// writeArchive writes files of a folder by name, all of one owner and one time. The header of gzip
// has neither name nor time.
func writeArchive(w io.Writer, folder string, files []file, when time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	made := map[string]bool{}
	for _, f := range files {
		name := path.Join(folder, f.name)
		if err := writeFolders(t, path.Dir(name), made, when); err != nil {
			return err
		}
		err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: f.mode, Size: int64(len(f.data)), ModTime: when, Uname: "root", Gname: "root", Format: tar.FormatUSTAR})
		if err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

// writeFolders writes a folder and those above it, each once.
func writeFolders(t *tar.Writer, folder string, made map[string]bool, when time.Time) error {
	if folder == "." || made[folder] {
		return nil
	}
	made[folder] = true
	if err := writeFolders(t, path.Dir(folder), made, when); err != nil {
		return err
	}
	return t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: when, Uname: "root", Gname: "root", Format: tar.FormatUSTAR})
}

// writeChecksums writes the SHA-256 of each file of a folder, as sha256sum -c reads it.
func writeChecksums(folder string) error {
	entries, err := os.ReadDir(folder) // by name
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
