package expr

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/docpart"
)

var update = flag.Bool("update", false, "rewrite the table of functions in docs/semantics.md")

// TestFunctionDocs protects that docs/semantics.md lists the functions that
// there are.
func TestFunctionDocs(t *testing.T) {
	docpart.Check(t, "../../docs/semantics.md", "functions", functionDocs(), *update)
}

// TestOperatorDocs protects that docs/semantics.md lists the operators that there are, in their
// precedence, the forms, of which each example can be read, and the types that casts take.
func TestOperatorDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n| operator | gives | |\n|---|---|---|\n")
	last := levelPrimary
	for i, o := range Operators() {
		if operatorTable[i].level > last {
			t.Errorf("%s binds more tightly than what stands before it", o.Name)
		}
		last = operatorTable[i].level
		name := "`" + strings.ReplaceAll(o.Shown, "|", "\\|") + "`"
		for _, other := range o.Also {
			name += ", `" + other + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, o.Result, o.Doc)
	}
	b.WriteString("\n")
	docpart.Check(t, "../../docs/semantics.md", "operators", b.String(), *update)
	b.Reset()
	b.WriteString("\n| form | gives | | for example |\n|---|---|---|---|\n")
	for _, f := range Forms() {
		example := ""
		if f.Example != "" {
			example = "`" + f.Example + "`"
			if _, err := Parse(f.Example); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Shown, f.Result, f.Doc, example)
	}
	b.WriteString("\n")
	docpart.Check(t, "../../docs/semantics.md", "forms", b.String(), *update)
	b.Reset()
	b.WriteString("\n| type | in casts |\n|---|---|\n")
	for _, typ := range Types() {
		fmt.Fprintf(&b, "| %s | `%s` |\n", typ.Name, strings.Join(typ.Casts, "`, `"))
		for _, name := range typ.Casts {
			if _, err := Parse("x::" + strings.ReplaceAll(name, "(p,s)", "(9,2)")); err != nil {
				t.Errorf("no cast takes %s: %v", name, err)
			}
		}
	}
	b.WriteString("\n")
	docpart.Check(t, "../../docs/semantics.md", "types", b.String(), *update)
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
