package expr

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of functions in docs/semantics.md")

// TestFunctionDocs protects that docs/semantics.md lists the functions that
// there are.
func TestFunctionDocs(t *testing.T) {
	const page, begin, end = "../../docs/semantics.md", "<!-- functions -->\n", "<!-- end of functions -->"
	file, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(file), begin)
	shown, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks %q or %q", page, begin, end)
	}
	table := functionDocs()
	if shown == table {
		return
	}
	if !*update {
		t.Fatalf("%s shows another table than the functions give; run go test ./internal/expr -run TestFunctionDocs -update", page)
	}
	if err := os.WriteFile(page, []byte(head+begin+table+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

func functionDocs() string {
	var b strings.Builder
	section := ""
	for _, f := range Functions() {
		if f.Section != section {
			section = f.Section
			fmt.Fprintf(&b, "\n| %s | gives | |\n|---|---|---|\n", section)
		}
		name := "`" + f.Signature + "`"
		for _, other := range f.Also {
			name += ", `" + other + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, f.Result, f.Doc)
	}
	return b.String() + "\n"
}
