package lint

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

const modulePath = "github.com/gagg-dev/gagg"

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath   string
	Name         string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// dir is the package's folder in the repository.
func (p goPackage) dir() string {
	dir, _ := inModule(p.ImportPath)
	return dir
}

func (p goPackage) everyImport() []string {
	return append(append(append([]string{}, p.Imports...), p.TestImports...), p.XTestImports...)
}

// inModule gives the folder of an import path of this module.
func inModule(path string) (dir string, ours bool) {
	if path == modulePath {
		return ".", true
	}
	return strings.CutPrefix(path, modulePath+"/")
}

var list = sync.OnceValues(func() (packages []goPackage, err error) {
	ctx, cancel := bounded.Context("go list")
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Name,Imports,TestImports,XTestImports", modulePath+"/...").Output()
	if err != nil {
		return nil, errors.Join(err, context.Cause(ctx))
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
})

// module lists the packages of this module.
func module(t *testing.T) []goPackage {
	t.Helper()
	packages, err := list()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return packages
}
