package lint

import (
	"go/ast"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// budgetPackages is where bytes are counted, and where the driver pins memory.
var budgetPackages = []string{"internal/budget", "internal/cuda"}

// asked is functions that are told of bytes, and are no budget, by the reason.
var asked = map[string]string{
	"internal/cpu/LongText": "is told of texts, not of memory",
}

// Bytes are drawn from a budget.Lender. A function in its place could not tell a draw from a
// release, nor nil from no limit.
func TestBudgetIsNoFunction(t *testing.T) {
	inspectOurs(t, func(file, dir string, n ast.Node) {
		field, ok := n.(*ast.Field)
		if !ok || !isBudgetFunction(field.Type) || strings.HasPrefix(dir, budgetPackages[0]) {
			return
		}
		name := "a result"
		if len(field.Names) > 0 {
			name = field.Names[0].Name
		}
		if asked[path.Join(dir, name)] == "" {
			t.Errorf("%s: %s is a func(int64) error; bytes are drawn from a budget.Lender", file, name)
		}
	})
}

// isBudgetFunction reports whether a type is func(int64) error.
func isBudgetFunction(e ast.Expr) bool {
	f, ok := e.(*ast.FuncType)
	return ok && f.Params.NumFields() == 1 && f.Results.NumFields() == 1 && isName(f.Params.List[0].Type, "int64") && isName(f.Results.List[0].Type, "error")
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// refusal is what types are called that say that a budget has no more.
var refusal = regexp.MustCompile(`(?i)^(refus|budget|limit|quota|exceed|exhaust)\w*Error$`)

// refusals is types of that name that say something else.
var refusals = map[string]string{
	"internal/device/RefusedError": "a device that was asked for cannot be had",
}

// There is one type of refusal, budget.Error, which may have other names.
func TestOneRefusal(t *testing.T) {
	inspectOurs(t, func(file, dir string, n ast.Node) {
		if s, ok := n.(*ast.TypeSpec); ok && !s.Assign.IsValid() && refusal.MatchString(s.Name.Name) && refusals[path.Join(dir, s.Name.Name)] == "" {
			t.Errorf("%s: %s: what a budget refuses is a budget.Error", file, s.Name.Name)
		}
	})
}

// What ships pins memory that it draws from a lender.
func TestPinnedIsDrawn(t *testing.T) {
	inspectOurs(t, func(file, dir string, n ast.Node) {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "AllocPinned" && dir != budgetPackages[1] && !strings.HasPrefix(dir, "bench/") {
			t.Errorf("%s: AllocPinned: memory that ships pins is drawn from a lender: AllocPinnedFrom", file)
		}
	})
}

// inspectOurs shows each node of all files of the module that are no tests, but methods of
// interfaces, which are fields too.
func inspectOurs(t *testing.T, look func(file, dir string, n ast.Node)) {
	t.Helper()
	const root = "../.."
	for _, p := range module(t) {
		files, err := filepath.Glob(filepath.Join(root, p.dir(), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			ast.Inspect(parse(t, file), func(n ast.Node) bool {
				if n != nil {
					look(strings.TrimPrefix(file, root+"/"), p.dir(), n)
				}
				_, isInterface := n.(*ast.InterfaceType)
				return !isInterface
			})
		}
	}
}
