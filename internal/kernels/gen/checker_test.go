package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// checker knows the Go types of the packages of kernels. It checks no function
// bodies, and of cuda it knows the type Ptr alone; errors that come from that
// are passed over, as the Go compiler has seen the packages.
type checker struct {
	t        *testing.T
	files    token.FileSet
	packages map[string]*types.Package
}

func newChecker(t *testing.T) *checker {
	cuda := types.NewPackage(module+"/internal/cuda", "cuda")
	ptr := types.NewTypeName(token.NoPos, cuda, "Ptr", nil)
	types.NewNamed(ptr, types.Typ[types.Uint64], nil)
	cuda.Scope().Insert(ptr)
	cuda.MarkComplete()
	return &checker{t: t, packages: map[string]*types.Package{cuda.Path(): cuda}}
}

// Import implements types.Importer.
func (c *checker) Import(path string) (*types.Package, error) {
	if p := c.packages[path]; p != nil {
		return p, nil
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	empty := types.NewPackage(path, filepath.Base(path))
	empty.MarkComplete()
	return empty, nil
}

// check type checks a folder's package.
func (c *checker) check(f folder) {
	c.t.Helper()
	paths, err := filepath.Glob(filepath.Join(root(c.t), f.dir, "*.go"))
	if err != nil {
		c.t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			files = append(files, c.parse(path))
		}
	}
	config := types.Config{Importer: c, IgnoreFuncBodies: true, Error: func(error) {}}
	p, _ := config.Check(module+"/"+f.dir, &c.files, files, nil) // errors: see checker
	c.packages[module+"/"+f.dir] = p
}

func (c *checker) parse(path string) *ast.File {
	c.t.Helper()
	file, err := parser.ParseFile(&c.files, path, nil, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	return file
}

// params is the fields of a struct as a machine lays it out, paddings left out.
func (c *checker) params(f folder, name, machine string) []param {
	object := c.packages[module+"/"+f.dir].Scope().Lookup(name)
	if object == nil {
		return nil
	}
	args := object.Type().Underlying().(*types.Struct)
	sizes := types.SizesFor("gc", machine)
	var fields []*types.Var
	for field := range args.Fields() {
		fields = append(fields, field)
	}
	var params []param
	for i, offset := range sizes.Offsetsof(fields) {
		if fields[i].Name() != "_" {
			params = append(params, param{offset: int(offset), size: int(sizes.Sizeof(fields[i].Type()))})
		}
	}
	return params
}

// launches is what a source's Go file does with kernels.
type launches struct {
	names   []string    // that its Source lists, in order
	methods map[int]int // kernel's index → bytes of parameters that its method hands over
}

// launches reads the Source and the calls of Enqueue out of a source's Go file, and out of that
// of its family if it has one.
func (c *checker) launches(f folder, source, family string) launches {
	c.t.Helper()
	found := launches{methods: map[int]int{}}
	c.read(f, source, found.add)
	if family != "" {
		c.read(f, family, found.add)
	}
	return found
}

// read calls each for all nodes of a Go file that was made for a source or family.
func (c *checker) read(f folder, name string, each func(ast.Node) bool) {
	c.t.Helper()
	ast.Inspect(c.parse(filepath.Join(root(c.t), f.dir, name+"_gen.go")), each)
}

// add notes what a node says of launches.
func (found *launches) add(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Kernels" {
			for _, kernel := range n.Value.(*ast.CompositeLit).Elts {
				found.names = append(found.names, text(kernel))
			}
		}
	case *ast.CallExpr:
		if name(n) == "Enqueue" {
			index, _ := strconv.Atoi(text(n.Args[1]))
			size, _ := strconv.Atoi(text(n.Args[4]))
			found.methods[index] = size
		}
	}
	return true
}

// name is the name of the method that is called.
func name(call *ast.CallExpr) string {
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		return selector.Sel.Name
	}
	return ""
}

// text is the value of a literal.
func text(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	return strings.Trim(literal.Value, `"`)
}
