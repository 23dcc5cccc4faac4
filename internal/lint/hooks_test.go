package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hooks is the variables of packages that tests may set, by the reason.
var hooks = map[string]string{
	"cmd/gagg.processEnds":          "in a process that a test has started and that ends with its run",
	"internal/gputest.closedWithin": "what is waited for in vain, once",
	"internal/hostmem.shared":       "huge pages are the process's",
}

// Tests set no variables of packages, their own or others': what one test changes another one
// beside it would see. What tests change is a field of a configuration (Tuning of internal/exec).
func TestNoHooks(t *testing.T) {
	const root = "../.."
	for _, p := range module(t) {
		dir := p.dir()
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		variables := packageVariables(t, files)
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed := parse(t, file)
			imported := importNames(parsed)
			ast.Inspect(parsed, func(n ast.Node) bool {
				assign, ok := n.(*ast.AssignStmt)
				if !ok || assign.Tok == token.DEFINE {
					return true
				}
				for _, to := range assign.Lhs {
					if name := setFrom(to, variables, imported); name != "" && name != "_" && hooks[dir+"."+name] == "" {
						t.Errorf("%s sets %s, a variable of a package", strings.TrimPrefix(file, root+"/"), name)
					}
				}
				return true
			})
		}
	}
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// packageVariables is the variables that files which are no tests declare.
func packageVariables(t *testing.T, files []string) (names []string) {
	t.Helper()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, d := range parse(t, file).Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, s := range g.Specs {
					for _, name := range s.(*ast.ValueSpec).Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// importNames is the names of the packages of ours that a file imports.
func importNames(f *ast.File) (names []string) {
	for _, i := range f.Imports {
		if path := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(path, modulePath) {
			names = append(names, path[strings.LastIndex(path, "/")+1:])
		}
	}
	return names
}

// setFrom is the variable of a package that an assignment to this expression sets, wholly or in
// part; "": none. A name that the parser has found in the file is a variable of the test.
func setFrom(to ast.Expr, variables, imported []string) string {
	switch e := to.(type) {
	case *ast.Ident:
		if e.Obj == nil && slices.Contains(variables, e.Name) {
			return e.Name
		}
	case *ast.SelectorExpr:
		if p, ok := e.X.(*ast.Ident); ok && p.Obj == nil && slices.Contains(imported, p.Name) {
			return p.Name + "." + e.Sel.Name
		}
		return setFrom(e.X, variables, imported)
	case *ast.IndexExpr:
		return setFrom(e.X, variables, imported)
	case *ast.ParenExpr:
		return setFrom(e.X, variables, imported)
	}
	return ""
}
