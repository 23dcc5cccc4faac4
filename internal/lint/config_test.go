package lint

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// The packages that have a cpu.Config in their hands.
var configUsers = []string{"internal/cpu", "internal/exec", "internal/plan", "internal/gpu"}

// A cpu.Config is made in one function, as a variable of that function, and never changed: what
// changes in a run is the cpu.Run's.
func TestConfigIsNeverChanged(t *testing.T) {
	exports := exported(t)
	for _, dir := range configUsers {
		checked := check(t, dir, exports)
		for at, assigned := range checked.assigned() {
			t.Errorf("%s: %s changes a cpu.Config", at, assigned)
		}
		if _, uses := checked.info["Config"]; dir == "internal/gpu" && uses {
			t.Error("internal/gpu uses cpu.Config: what it needs is in a configuration of its own")
		}
	}
}

// checkedPackage is a package whose types are known.
type checkedPackage struct {
	fset  *token.FileSet
	files []*ast.File
	types *types.Info
	info  map[string]bool // names of internal/cpu that it uses
}

const cpuPackage = modulePath + "/internal/cpu"

// assigned is what a statement assigns to that is a field of a cpu.Config, by its place. A field
// of a variable that is itself a Config, and no pointer to one, may be.
func (p *checkedPackage) assigned() map[token.Position]string {
	all := map[token.Position]string{}
	note := func(to ast.Expr) {
		for {
			switch x := to.(type) {
			case *ast.SelectorExpr:
				if isConfig(p.types.TypeOf(x.X)) && !p.isLocal(x.X) {
					all[p.fset.Position(x.Pos())] = types.ExprString(x)
					return
				}
				to = x.X
			case *ast.IndexExpr:
				to = x.X
			case *ast.StarExpr:
				if isConfig(p.types.TypeOf(x)) {
					all[p.fset.Position(x.Pos())] = types.ExprString(x)
				}
				return
			default:
				return
			}
		}
	}
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch s := n.(type) {
			case *ast.AssignStmt:
				for _, to := range s.Lhs {
					note(to)
				}
			case *ast.IncDecStmt:
				note(s.X)
			}
			return true
		})
	}
	return all
}

// isConfig reports whether a type is cpu.Config or a pointer to it.
func isConfig(t types.Type) bool {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == "Config" && named.Obj().Pkg().Path() == cpuPackage
}

// isLocal reports whether an expression is a variable of a function that is itself a Config.
func (p *checkedPackage) isLocal(x ast.Expr) bool {
	name, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	_, pointer := p.types.TypeOf(x).(*types.Pointer)
	object := p.types.ObjectOf(name)
	return !pointer && object != nil && object.Parent() != object.Pkg().Scope()
}

// check type checks a package without its tests.
func check(t *testing.T, dir string, exports map[string]string) *checkedPackage {
	t.Helper()
	p := &checkedPackage{
		fset: token.NewFileSet(), info: map[string]bool{},
		types: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}},
	}
	names, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(p.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files = append(p.files, f)
	}
	open := func(path string) (io.ReadCloser, error) {
		file, ok := exports[path]
		if !ok {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(file)
	}
	c := types.Config{Importer: importer.ForCompiler(p.fset, "gc", open)}
	if _, err := c.Check(modulePath+"/"+dir, p.fset, p.files, p.types); err != nil {
		t.Fatal(err)
	}
	for _, o := range p.types.Uses {
		if o.Pkg() != nil && o.Pkg().Path() == cpuPackage && o.Parent() == o.Pkg().Scope() {
			p.info[o.Name()] = true
		}
	}
	return p
}

// exported is the files with what packages export, by their import paths.
func exported(t *testing.T) map[string]string {
	t.Helper()
	c := bounded.Command(t, "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "./internal/exec")
	c.Dir = "../.."
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list -export: %v", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && file != "" {
			files[path] = file
		}
	}
	return files
}
