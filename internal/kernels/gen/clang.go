package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// deviceFlags is how each source is compiled, but for where it comes from.
var deviceFlags = []string{
	"-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib",
	"--cuda-gpu-arch=sm_70", // Volta, the lowest that has independent threads and match
	"--cuda-feature=+ptx63", // the lowest that has nanosleep and activemask: drivers from CUDA 10 on
	"-std=c++20", "-O3", "-ffreestanding",
	"-ffp-contract=off", // a*b+c is rounded twice, as on the CPU; fma() is asked for by name
	"-fuse-cuid=none",   // no hash of the file's path in the names of static variables
	"-Wall", "-Wextra", "-Werror",
}

// toolkit is a clang that compiles for the device.
type toolkit struct {
	root    string // of the module, where it runs
	clang   string
	version string // its first line about itself, without spaces
}

func findToolkit(root, clang string) (toolkit, error) {
	out, err := exec.Command(clang, "--version").Output()
	if err != nil {
		return toolkit{}, fmt.Errorf("%s --version: %w", clang, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return toolkit{root, clang, strings.ReplaceAll(strings.TrimSpace(line), " ", "_")}, nil
}

// tree reads what a source declares.
func (t toolkit) tree(source string) (tree, error) {
	out, err := t.run(includeLine(source), "-fsyntax-only", "-Xclang", "-ast-dump=json")
	if err != nil {
		return tree{}, err
	}
	return readTree(out)
}

// ptx compiles a source together with assertions about it, and returns the
// clean PTX and the files of ours that went into it, in order.
func (t toolkit) ptx(source, assertions string) (ptx []byte, inputs []string, err error) {
	temp, err := os.MkdirTemp("", "gagg-gen-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	deps := filepath.Join(temp, "deps")
	out, err := t.run(includeLine(source)+assertions, "-S", "-o", "-", "-MMD", "-MT", "ptx", "-MF", deps)
	if err != nil {
		return nil, nil, err
	}
	list, err := os.ReadFile(deps)
	return cleanPTX(out), readDependencies(string(list)), err
}

// run compiles text, which includes sources by their path from the root.
func (t toolkit) run(text string, args ...string) ([]byte, error) {
	args = slices.Concat(deviceFlags, []string{"-I", ".", "-I", shipped.dir}, args, []string{"-"})
	cmd := exec.Command(t.clang, args...)
	cmd.Dir = t.root
	cmd.Stdin = strings.NewReader(text)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", t.clang, err, stderr.Bytes())
	}
	return out, nil
}

func includeLine(source string) string { return "#include \"" + source + "\"\n" }

// readDependencies takes the files out of a rule of make.
func readDependencies(rule string) []string {
	var files []string
	for _, word := range strings.Fields(strings.TrimPrefix(rule, "ptx:")) {
		if word != "\\" && word != "-" && !filepath.IsAbs(word) {
			files = append(files, filepath.ToSlash(filepath.Clean(word)))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
