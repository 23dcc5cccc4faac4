package expr

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// edgeCases are those of testdata/edges.txt: templates over all values of their axes.
func edgeCases(t *testing.T) (cases []functionCase) {
	t.Helper()
	file, err := os.ReadFile("testdata/edges.txt")
	if err != nil {
		t.Fatal(err)
	}
	axes := map[string][]string{}
	var texts []string // of the last template, whose answers are still to come
	typ := ""
	for _, line := range strings.Split(strings.TrimSuffix(string(file), "\n"), "\n") {
		fields := strings.Split(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '@':
			axes[fields[0][1:]] = fields[1:]
		case line[0] != '\t':
			if len(texts) > 0 {
				t.Fatalf("%q has no answer: run make functions-duckdb", texts[0])
			}
			texts, typ = []string{fields[0]}, ""
			if len(fields) > 1 {
				texts = expandTemplate(fields[0], strings.Fields(fields[1]), axes)
			}
		default:
			for _, cell := range fields[1:] {
				c := functionCase{text: texts[0], typ: "ERROR"}
				if cell != "!" {
					given, value, _ := strings.Cut(cell, ":")
					if given != "" {
						typ = given
					}
					c.typ, c.want = typ, value
					if strings.HasPrefix(value, `"`) && json.Unmarshal([]byte(value), &c.want) != nil {
						t.Fatalf("%s: %q is not quoted", c.text, cell)
					}
				}
				cases, texts = append(cases, c), texts[1:]
			}
		}
	}
	return cases
}

// expandTemplate puts the values of the axes into the places of a template.
func expandTemplate(template string, names []string, axes map[string][]string) []string {
	texts := []string{template}
	for place, name := range names {
		var next []string
		for _, text := range texts {
			for _, value := range axes[name] {
				next = append(next, strings.ReplaceAll(text, fmt.Sprintf("$%d", place), value))
			}
		}
		texts = next
	}
	return texts
}

// TestEdgesAsDuckDB protects types and values of operators, casts and functions over edge values:
// those of DuckDB, but for what a line of docs/semantics.md explains.
func TestEdgesAsDuckDB(t *testing.T) {
	t.Parallel()
	used := make([]int, len(reasons))
	for i, c := range slices.Concat(edgeCases(t), functionCases(t)) {
		if testing.Short() && i%10 > 0 {
			continue
		}
		v, err := evalText(c.text)
		d := disagreement{text: c.text, typ: c.typ, want: ownText(c.typ, c.want), gotType: "ERROR"}
		if err == nil {
			d.gotType, d.got = sqlName(v.Type), "NULL"
			if !v.Null {
				d.got = textOf(v)
			}
		}
		if d.typ != d.gotType || err == nil && d.got != d.want {
			if k := d.explained(); k >= 0 {
				used[k]++
			} else {
				t.Errorf("%s = %s %s (%v), DuckDB has %s %s", d.text, d.gotType, d.got, err, d.typ, d.want)
			}
		}
		if err == nil && i%liftedShare == 0 && !hasTwoOperands(c.text) && !d.calls("xor(", "'isoyear', null") {
			lifted(t, c.text, described(v))
		}
	}
	templates, err := os.ReadFile("testdata/edges.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operatorTable {
		if o.infix && !strings.Contains(string(templates), "\n$0 "+o.name+" $1\t") {
			t.Errorf("no template of edges.txt has the operator %s", o.name)
		}
	}
	page, err := os.ReadFile("../../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## What differs from DuckDB")
	for k, d := range reasons {
		if !strings.Contains(table, "\n| "+d.row+" |") {
			t.Errorf("docs/semantics.md has no row %q", d.row)
		}
		if used[k] == 0 && !testing.Short() {
			t.Errorf("nothing differs as %q says", d.row)
		}
	}
}

// hasTwoOperands reports whether text is two operands without an interval: constants among numbers
// have fewer digits than columns of their types.
func hasTwoOperands(text string) bool {
	n, err := Parse(text)
	_, is := n.(*Binary)
	return is && err == nil && !isSpan(n)
}
