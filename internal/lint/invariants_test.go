package lint

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// label is how the rules are called that code relies on.
	label = regexp.MustCompile(`\b[A-Z]{2,}(?:-[A-Z]{2,})+\b`)

	// defined is a label in a line of comment that says what it means: behind a colon, before which
	// may be where it holds, or behind two spaces or more, as the lists in sources of kernels do.
	defined = regexp.MustCompile(`^\s*//.*?\b([A-Z]{2,}(?:-[A-Z]{2,})+)(?:(?:, [^.:()]*)?:|  )`)
)

// noLabels is what looks like a label and is none, by what it is.
var noLabels = map[string]string{
	"RW-BM":           "a method of paper 000",
	"PCG-RXS":         "a family of generators of random numbers",
	"SP-EGA":          "a strategy of paper 003",
	"MP-EGA":          "a strategy of paper 003",
	"PACKAGE-MANAGER": "a word of SPDX",
	"AMD-EPYC":        "a processor",
}

// inASentence is labels that stand behind the sentence that defines them, by why no colon is there.
var inASentence = map[string]string{
	"KEY-SEEN": "internal/kernels/ega_table.cuh: its text is part of what the kernels were made from",
}

// Each rule that code relies on has a label, which one comment defines and others cite: a label
// that means two things, or that nobody knows the meaning of, is no rule, and one that nothing
// cites is relied on nowhere. In tests a label is always cited, with or without a colon.
func TestInvariantsAreDefinedOnceAndCited(t *testing.T) {
	at, cited := map[string][]string{}, map[string]int{}
	for path, text := range sources(t, ".go", ".cu", ".cuh", ".cc", ".h") {
		for i, line := range strings.Split(text, "\n") {
			all := label.FindAllString(line, -1)
			for _, name := range definedIn(path, line) {
				at[name] = append(at[name], fmt.Sprintf("%s:%d", path, i+1))
				all = slices.DeleteFunc(all, func(s string) bool { return s == name })
			}
			for _, name := range all {
				cited[name]++
			}
		}
	}
	if len(at) < 70 {
		t.Errorf("only %d labels are defined: are their comments read?", len(at))
	}
	for _, name := range slices.Sorted(maps.Keys(cited)) {
		if len(at[name]) == 0 && noLabels[name] == "" && inASentence[name] == "" {
			t.Errorf("%s is cited, and no comment defines it as %s:", name, name)
		}
	}
	for _, name := range append(slices.Collect(maps.Keys(noLabels)), slices.Collect(maps.Keys(inASentence))...) {
		if cited[name] == 0 || len(at[name]) > 0 {
			t.Errorf("%s is listed as defined nowhere, but there is no such word, or it is defined: %v", name, at[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(at)) {
		switch places := at[name]; {
		case len(places) > 1:
			t.Errorf("%s is defined %d times, once is enough: %s", name, len(places), strings.Join(places, ", "))
		case cited[name] == 0:
			t.Errorf("%s: nothing cites %s: what relies on it does, or it needs no label", places[0], name)
		}
	}
}

// What the forms of definitions are.
func TestInvariantForms(t *testing.T) {
	for line, want := range map[string]string{
		"// LOAD-MAX: the table":           "LOAD-MAX",
		"//   - LOAD-MAX: the table":       "LOAD-MAX",
		"\t// them. EXIT-OPEN: values":     "EXIT-OPEN",
		"//   PAGE-ONCE   A page belongs":  "PAGE-ONCE",
		"// whole (LOAD-MAX): the table":   "",
		"// whole (package a: LOAD-MAX).":  "",
		"// chosen by LOAD-MAX and others": "",
		"// LOAD-MAX, over all loads: the": "LOAD-MAX",
		"at int // LOAD-MAX: no more":      "",
		"// LOAD-MAX: most. LOAD-MIN: few": "LOAD-MAX,LOAD-MIN",
		"// MP-EGA: a strategy of a paper": "",
		`Check(ok, "LOAD-MAX: the table")`: "",
	} {
		if got := strings.Join(definedIn("a.go", line), ","); got != want {
			t.Errorf("%q defines %q, want %q", line, got, want)
		}
	}
	if got := definedIn("a_test.go", "// LOAD-MAX: the table"); got != nil {
		t.Errorf("a test defines %q", got)
	}
}

// definedIn is the labels that a line of a file defines.
func definedIn(path, line string) (names []string) {
	if strings.HasSuffix(path, "_test.go") {
		return nil
	}
	for {
		m := defined.FindStringSubmatchIndex(line)
		if m == nil {
			return names
		}
		if name := line[m[2]:m[3]]; noLabels[name] == "" {
			names = append(names, name)
		}
		line = "//" + line[m[1]:]
	}
}

// sources is the texts of the files of the repository with one of these extensions, but for those
// in testdata, by their paths.
func sources(t *testing.T, extensions ...string) map[string]string {
	t.Helper()
	const root = "../.."
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "build", "node_modules", "testdata"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains(extensions, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, root+"/")
		if rel != "internal/lint/invariants_test.go" {
			texts[rel] = string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
