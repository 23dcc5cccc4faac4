package main

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is the import path of our module.
const module = "github.com/gagg-dev/gagg"

// folder is a Go package whose folder holds kernels.
type folder struct {
	dir string // from the root of the module, with slashes
}

// Kernels that ship, and kernels for tests and benchmarks. The second may use the
// headers of the first.
var (
	shipped  = folder{"internal/kernels"}
	forTests = folder{"internal/kernels/kerneltest"}
	folders  = []folder{shipped, forTests}
)

// name is the name of the Go package.
func (f folder) name() string { return path.Base(f.dir) }

// file is the path of a file of the folder, from the root of the module.
func (f folder) file(name string) string { return f.dir + "/" + name }

// hasCode reports whether the folder has machine code too: of the kernels that users run.
func (f folder) hasCode() bool { return f == shipped }

// sources lists the folder's .cu files, without .cu, in order.
func (f folder) sources(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, f.dir, "*.cu"))
	names := make([]string, 0, len(files))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".cu"))
	}
	return names, err
}

// owners tells for each struct of our sources which file declares it.
type owners map[string][]owner

// owner is a file that declares a struct.
type owner struct {
	folder folder
	file   string // of that folder
}

var structStart = regexp.MustCompile(`(?m)^struct\s+(?:alignas\([^)]*\)\s*)?(\w+)[^;{]*\{`)

// findOwners reads all sources and headers.
func findOwners(root string) (owners, error) {
	found := owners{}
	for _, f := range folders {
		files, err := filepath.Glob(filepath.Join(root, f.dir, "*.cu*"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, match := range structStart.FindAllStringSubmatch(string(text), -1) {
				found[match[1]] = append(found[match[1]], owner{f, filepath.Base(file)})
			}
		}
	}
	return found, nil
}

// of returns the one file that declares a struct.
func (o owners) of(name string) (owner, error) {
	switch files := o[name]; len(files) {
	case 1:
		return files[0], nil
	case 0:
		return owner{}, fmt.Errorf("struct %s: no source of ours declares it at the start of a line", name)
	default:
		return owner{}, fmt.Errorf("struct %s is declared in several files: %v", name, files)
	}
}

func (o owner) String() string { return o.folder.file(o.file) }

func compareOwners(a, b owner) int {
	return cmp.Or(cmp.Compare(a.folder.dir, b.folder.dir), cmp.Compare(a.file, b.file))
}

// sortedKeys is the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
