package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// environment is the packages of the library that read the environment, and the variables, which
// the package's comment names.
var environment = map[string]string{
	"internal/cuda/report.go":         "CUDA_VISIBLE_DEVICES",
	"internal/cuda/installed.go":      "GAGG_CUDA_LIBRARY",
	"internal/cuda/library.go":        "GAGG_CUDA_LIBRARY",
	"internal/spill/default_unix.go":  "TMPDIR",
	"internal/spill/default_other.go": "TMPDIR",
}

// What the library reads of the environment is what it says that it reads.
func TestEnvironment(t *testing.T) {
	const root = "../.."
	query, err := os.ReadFile(filepath.Join(root, "query.go"))
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(query), "\npackage gagg\n")
	found := 0
	for _, p := range module(t) {
		dir := p.dir()
		if strings.HasPrefix(dir, "bench/") || strings.HasPrefix(dir, "cmd/") || slices.Contains(testOnly, dir) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || !readsEnvironment(t, file) {
				continue
			}
			found++
			name, err := filepath.Rel(root, file)
			if variable, known := environment[filepath.ToSlash(name)]; err != nil || !known {
				t.Errorf("%s reads the environment: %v", name, err)
			} else if !strings.Contains(comment, variable) {
				t.Errorf("%s reads %s, of which the comment of package gagg says nothing", name, variable)
			}
		}
	}
	if found != len(environment) {
		t.Errorf("%d files read the environment, %d are listed", found, len(environment))
	}
}

// readsEnvironment reports whether a file calls what of package os reads variables.
func readsEnvironment(t *testing.T, file string) (reads bool) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		p, ok := s.X.(*ast.Ident)
		reads = reads || ok && p.Name == "os" && slices.Contains([]string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "TempDir", "UserCacheDir", "UserHomeDir"}, s.Sel.Name)
		return true
	})
	return reads
}
