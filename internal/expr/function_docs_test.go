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
