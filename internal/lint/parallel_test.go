package lint

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inParallel is the packages whose tests share nothing: no memory that is measured, no device, no
// port, no other process.
var inParallel = []string{
	"feedback", "internal/agg", "internal/arena", "internal/arrowio", "internal/budget", "internal/column", "internal/delta",
	"internal/expr", "internal/filepool", "internal/iceberg", "internal/input", "internal/key", "internal/lake", "internal/oracle",
	"internal/plan", "internal/query", "internal/sink", "internal/sortkey", "internal/spelling", "internal/spill", "internal/state",
	"merge", "partition",
}

// ofTheProcess is what a test sets or measures for the whole process, or needs for itself.
var ofTheProcess = []string{
	"t.Setenv", "t.Chdir", "testing.AllocsPerRun", "runtime.ReadMemStats", "runtime.GC", "syscall.Umask", "gputest.Open",
}

// sequential is other tests that run alone, by the reason.
var sequential = map[string]string{
	"internal/agg.TestCompactLongStrings":  "takes hundreds of megabytes",
	"internal/expr.TestLongChain":          "takes hundreds of megabytes",
	"internal/sink.TestParquetLargeValues": "takes hundreds of megabytes",
	"internal/spill.TestCloseWhileWriting": "waits by the clock",
	"internal/spill.TestKilled":            "a process that is being started holds the locks of all files",
}

// Each test of those packages begins with t.Parallel, but those that use what is the process's, or
// rewrite a file (-update). They run before all others.
func TestParallel(t *testing.T) {
	found := map[string]bool{}
	for _, dir := range inParallel {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no tests: %v", dir, err)
		}
		for _, file := range files {
			for _, d := range parse(t, file).Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" {
					continue
				}
				name := dir + "." + f.Name.Name
				found[name] = true
				why := sequential[name] + usesProcess(f)
				if parallel := beginsParallel(f); parallel && why != "" {
					t.Errorf("%s begins with t.Parallel, and may not: %s", name, why)
				} else if !parallel && why == "" {
					t.Errorf("%s does not begin with t.Parallel", name)
				}
			}
		}
	}
	for name := range sequential {
		if !found[name] {
			t.Errorf("sequential has %s, which does not exist", name)
		}
	}
}

func beginsParallel(f *ast.FuncDecl) bool {
	if len(f.Body.List) == 0 {
		return false
	}
	s, ok := f.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := s.X.(*ast.CallExpr)
	return ok && selected(call.Fun) == "t.Parallel"
}

// usesProcess is what of the process a test uses itself; "": nothing.
func usesProcess(f *ast.FuncDecl) (what string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if name := selected(n); slices.Contains(ofTheProcess, name) {
				what = name
			}
		case *ast.StarExpr:
			if isName(n.X, "update") {
				what = "-update"
			}
		}
		return true
	})
	return what
}

// selected is an expression a.b as text; "": it is another one.
func selected(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}
