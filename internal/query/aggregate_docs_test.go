package query

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of aggregates in docs/semantics.md")

// TestAggregateDocs protects that docs/semantics.md lists the aggregates that there are, and that
// each has a line.
func TestAggregateDocs(t *testing.T) {
	const page, begin, end = "../../docs/semantics.md", "<!-- aggregates -->\n", "<!-- end of aggregates -->"
	file, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(file), begin)
	shown, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks %q or %q", page, begin, end)
	}
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
	if shown == b.String() {
		return
	}
	if !*update {
		t.Fatalf("%s shows another table than the aggregates give; run go test ./internal/query -run TestAggregateDocs -update", page)
	}
	if err := os.WriteFile(page, []byte(head+begin+b.String()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
