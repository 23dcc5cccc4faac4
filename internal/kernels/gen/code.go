package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/kernels/image"
)

// architectures are those that machine code is made for, in the order of a code file: Hopper first,
// whose instructions are others; A100; the other Amperes; Ada.
var architectures = []int{90, 80, 86, 89}

// assembler is NVIDIA's ptxas, which makes machine code of PTX.
type assembler struct {
	path    string // empty: there is none
	version string // of the release and the build: V11.8.89
}

// findAssembler looks for a program; that there is none is no error.
func findAssembler(name string) (assembler, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return assembler{}, nil
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return assembler{}, fmt.Errorf("%s --version: %w", path, err)
	}
	words := strings.Fields(string(out))
	for _, word := range words {
		if len(word) > 1 && word[0] == 'V' && word[1] >= '0' && word[1] <= '9' {
			return assembler{path, word}, nil
		}
	}
	return assembler{}, fmt.Errorf("%s --version: it does not tell its version", path)
}

// code makes the code file of a source and its line of the manifest. Without an assembler the file
// stays as it is if it was made from this PTX, and is empty otherwise.
func (g *generator) code(u unit, ptx []byte) (code []byte, line string, err error) {
	name := u.source + ".code"
	if g.assembler.path == "" {
		if code, line, err = g.codeOf(u, ptx); line == "" && err == nil {
			g.tell(fmt.Sprintf("%s: there is no ptxas to make it: the driver will compile %s.ptx", u.folder.file("ptx/"+name), u.source))
			line = codeLine(name, nil, ptx, "none")
		}
		return code, line, err
	}
	var names []string
	for _, k := range u.kernels {
		names = append(names, k.name)
	}
	if code, err = image.Pack(ptx, names, architectures, g.assembler.assemble); err != nil {
		return nil, "", err
	}
	return code, codeLine(name, code, ptx, g.assembler.version), nil
}

// codeOf is the code file that there is, if its line of the manifest says that it was made from
// this PTX; else no line.
func (g *generator) codeOf(u unit, ptx []byte) (code []byte, line string, err error) {
	m, err := readManifest(g.root, u.folder)
	if err != nil {
		return nil, "", err
	}
	name := u.source + ".code"
	code, err = os.ReadFile(filepath.Join(g.root, u.folder.file("ptx/"+name)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", nil
	}
	said := facts(m[name])
	if err != nil || said["ptx"] != image.Fingerprint(ptx) || said[name] != image.Fingerprint(code) {
		return nil, "", err
	}
	return code, m[name], nil
}

// codeLine describes a code file in the manifest.
func codeLine(name string, code, ptx []byte, version string) string {
	return fmt.Sprintf("%s=%s ptx=%s ptxas=%s", name, image.Fingerprint(code), image.Fingerprint(ptx), version)
}

// assemble makes the ELF file of one kernel for an architecture.
func (a assembler) assemble(part []byte, architecture int) (code []byte, err error) {
	temp, err := os.MkdirTemp("", "gagg-gen-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	from, to := filepath.Join(temp, "kernel.ptx"), filepath.Join(temp, "kernel.cubin")
	if err := os.WriteFile(from, part, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(a.path, "-O3", "-arch=sm_"+strconv.Itoa(architecture), "-o", to, from)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", a.path, err, stderr.Bytes())
	}
	return os.ReadFile(to)
}
