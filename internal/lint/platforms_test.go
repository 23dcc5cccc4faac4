package lint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// platforms are those beside the one of the tests for which the program is built.
var platforms = []struct{ name, tags string }{
	{"linux/arm64", ""},
	{"darwin/arm64", "nogpu"},
	{"windows/amd64", ""},
}

// The program and the library compile for every platform, with their tests. Their sources and
// those of all that they import are type-checked, of other modules without the bodies of functions:
// a tenth of the time of a build.
func TestPlatforms(t *testing.T) {
	for _, p := range platforms {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			system, machine, _ := strings.Cut(p.name, "/")
			packages, err := listed([]string{"GOOS=" + system, "GOARCH=" + machine, "CGO_ENABLED=0"}, "-tags="+p.tags, "-test", "../..", "../../cmd/gagg")
			if err != nil {
				t.Fatal(err)
			}
			c := &checker{files: token.NewFileSet(), checked: map[string]*types.Package{"unsafe": types.Unsafe}, sizes: types.SizesFor("gc", machine)}
			for _, p := range packages {
				for _, err := range c.check(p) {
					t.Error(err)
				}
			}
			if len(packages) < 200 {
				t.Errorf("only %d packages were looked at", len(packages))
			}
		})
	}
}

// listedPackage is what `go list` says of a package for a platform.
type listedPackage struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ GoVersion string }
}

// listed is packages with all that they import, each behind its imports.
func listed(env []string, args ...string) (packages []listedPackage, err error) {
	ctx, cancel := bounded.Context("go list")
	defer cancel()
	c := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-json=Dir,ImportPath,GoFiles,ImportMap,Module"}, args...)...)
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, errors.Join(err, context.Cause(ctx))
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// checker type-checks packages for a platform, one after the other.
type checker struct {
	files   *token.FileSet
	checked map[string]*types.Package
	sizes   types.Sizes
}

// check tells what is wrong in a package whose imports were checked.
func (c *checker) check(p listedPackage) (wrong []error) {
	if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // a program that is not there yet
		return nil
	}
	_, ours := inModule(p.ImportPath)
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return []error{err}
		}
		files = append(files, f)
	}
	config := types.Config{
		Importer: importerFunc(func(path string) (*types.Package, error) {
			if mapped := p.ImportMap[path]; mapped != "" {
				path = mapped
			}
			if found := c.checked[path]; found != nil {
				return found, nil
			}
			return nil, fmt.Errorf("%s was not listed before %s", path, p.ImportPath)
		}),
		IgnoreFuncBodies: !ours,
		Sizes:            c.sizes,
		Error:            func(err error) { wrong = append(wrong, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	c.checked[p.ImportPath], _ = config.Check(p.ImportPath, c.files, files, nil) // its first error is among the wrong
	return wrong
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
