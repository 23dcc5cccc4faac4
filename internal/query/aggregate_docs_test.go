package query

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/docpart"
)

var update = flag.Bool("update", false, "rewrite the table of aggregates in docs/semantics.md")

// TestAggregateDocs protects that docs/semantics.md lists the aggregates that there are, and that
// each has a line.
func TestAggregateDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n| aggregate | takes | gives | |\n|---|---|---|---|\n")
	var told []string
	for _, a := range Aggregates() {
		if a.Signature == "" || a.Takes == "" || a.Result == "" || a.Doc == "" {
			t.Errorf("%s is not described", a.Name)
		}
		name := "`" + a.Signature + "`"
		for _, other := range a.Also {
			name += ", `" + other + "`"
		}
		told = append(append(told, a.Name), a.Also...)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, a.Takes, a.Result, a.Doc)
	}
	b.WriteString("\n")
	for _, name := range aggregateNames() {
		if !slices.Contains(told, name) {
			t.Errorf("%s is not described", name)
		}
	}
	docpart.Check(t, "../../docs/semantics.md", "aggregates", b.String(), *update)
}
