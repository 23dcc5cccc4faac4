package lint

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// mostSeveral is how many words of docs/glossary.md have several meanings. Whoever gives one of
// them a name of its own lowers it. It never rises: a new meaning gets a new word.
const mostSeveral = 24

// renamed is words that Go sources which ship do not use any more. Where a word is renamed, it gets
// a line here.
var renamed = []struct {
	word   *regexp.Regexp
	now    string
	except map[string]string // files and folders that use it, by the reason
}{
	{regexp.MustCompile(`\b[pP]lacers?\b|Placer`), "partition writer", nil},
	{regexp.MustCompile(`\b[pP]ackers?\b|[a-z]Packer`), "batch builder", map[string]string{
		"internal/sink/parquet_pack.go": "compresses pages of the output",
	}},
	{regexp.MustCompile(`\b[pP]arcels?\b|[a-z]Parcel`), "encoded batch", map[string]string{
		"internal/kernels":           "kernels call it so",
		"device_stats.go":            "a name of --stats, which stays",
		"stats.go":                   "a name of --stats, which stays",
		"internal/decode/kernels.go": "fills in fields that are named by kernels",
	}},
	{regexp.MustCompile(`\b[lL]eavers?\b|[a-z]Leaver`), "evictor", nil},
	{regexp.MustCompile(`\b[kK]eptRows\b`), "retained rows", map[string]string{
		"device_stats.go": "a name of --stats, which stays",
	}},
	{regexp.MustCompile(`\bAside\b|\bSetAside\b`), "reservation", nil},
	{regexp.MustCompile(`\btileRoad\b`), "strategy", nil},
	{regexp.MustCompile(`\bhandOn\b`), "seal, dispatch", nil},
	{regexp.MustCompile(`\bMultiPass\b`), "firstpass.Pass", nil},
	{regexp.MustCompile(`\bBucketPass\b`), "secondpass.Pass", nil},
	{regexp.MustCompile(`\b(cpu\.Cut|SetCuts|planCut)\b`), "prefilter", nil},
	{regexp.MustCompile(`\b(CopyHeld|HeldRows|heldTable)\b`), "in place", nil},
	{regexp.MustCompile(`\b(ShareConfig|DecideShare)\b`), "preaggregate", nil},
	{regexp.MustCompile(`\bSTAGE-ERRORS\b|\bplanStages\b`), "step of a result", nil},
}

// glossary is docs/glossary.md, taken apart.
type glossary struct {
	tables  [][]term // of one meaning; of our own
	several []term
}

// term is a row of a table: words that mean the same, and the packages that use them.
type term struct {
	words []string
	where []string
}

var quoted = regexp.MustCompile("`([^`]+)`")

func readGlossary(t *testing.T) (g glossary) {
	t.Helper()
	text, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if word, _, ok := strings.Cut(line, "**:"); ok && strings.HasPrefix(word, "- **") {
			g.several = append(g.several, term{words: []string{strings.TrimPrefix(word, "- **")}})
		}
		if n := len(g.several); n > 0 && (strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "  ")) {
			of := &g.several[n-1]
			names := slices.DeleteFunc(packagesIn(line), func(name string) bool { return name == of.words[0] })
			of.where = append(of.where, names...)
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case len(cells) != 3:
		case strings.HasPrefix(cells[0], "---"):
			g.tables = append(g.tables, nil)
		case len(g.tables) == 0 || strings.TrimSpace(cells[1]) == "where":
		default:
			last := &g.tables[len(g.tables)-1]
			*last = append(*last, termOf(cells, len(g.tables) == 1))
		}
	}
	return g
}

// termOf is the term of a row: of the words that have one meaning the last column is the packages,
// of those of our own the middle one.
func termOf(cells []string, oneMeaning bool) (t term) {
	where := cells[1]
	if oneMeaning {
		where = cells[2]
	}
	t.where = packagesIn(where)
	words, _, _ := strings.Cut(cells[0], ", of ")
	for _, w := range strings.Split(words, ",") {
		t.words = append(t.words, strings.Trim(strings.TrimSpace(w), "`"))
	}
	return t
}

// packagesIn is the packages that a text names: what is quoted in it and has no capital letter.
func packagesIn(text string) (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		if strings.ToLower(m[1]) == m[1] {
			names = append(names, m[1])
		}
	}
	return names
}

// The terms of the glossary are in order and there once, and the packages that it names use them.
func TestGlossary(t *testing.T) {
	g := readGlossary(t)
	if len(g.tables) == 0 || len(g.tables[0]) < 50 || len(g.several) == 0 {
		t.Fatalf("docs/glossary.md has %d tables, and %d words with several meanings: is it read?", len(g.tables), len(g.several))
	}
	var firsts [][]string
	seen := map[string]bool{}
	for i, table := range g.tables {
		var list []string
		for _, term := range table {
			list = append(list, term.words[0])
			checkUsed(t, term)
			for _, w := range term.words {
				if i == 0 && seen[w] {
					t.Errorf("docs/glossary.md has %s twice among the words with one meaning", w)
				}
				seen[w] = seen[w] || i == 0
			}
		}
		firsts = append(firsts, list)
	}
	var several []string
	for _, term := range g.several {
		several = append(several, term.words[0])
		if w := term.words[0]; seen[w] {
			t.Errorf("docs/glossary.md says that %s has one meaning, and that it has several", w)
		}
		if term.where != nil {
			checkUsed(t, term)
		}
	}
	for _, list := range append(firsts, several) {
		for i, w := range list[min(1, len(list)):] {
			if cmp.Compare(strings.ToLower(list[i]), strings.ToLower(w)) >= 0 {
				t.Errorf("docs/glossary.md: %s stands behind %s", w, list[i])
			}
		}
	}
	if n := len(g.several); n > mostSeveral {
		t.Errorf("%d words have several meanings, %d at most: the new meaning needs a word of its own", n, mostSeveral)
	} else if n < mostSeveral {
		t.Errorf("only %d words have several meanings: set mostSeveral to that, so that there are never more again", n)
	}
}

// checkUsed wants each package of a term to exist and to use one of its words.
func checkUsed(t *testing.T, term term) {
	t.Helper()
	for _, dir := range term.where {
		if dir == "gagg" {
			dir = "."
		}
		used := tokens(t, dir)
		switch {
		case len(used) == 0:
			t.Errorf("docs/glossary.md: %s is in %s, which is no package", term.words[0], dir)
		case !slices.ContainsFunc(term.words, func(w string) bool { return usesAll(used, w) }):
			t.Errorf("docs/glossary.md: %s is in %s, whose sources have no such word", term.words[0], dir)
		}
	}
	if len(term.where) == 0 {
		t.Errorf("docs/glossary.md: %s is in no package", term.words[0])
	}
}

// usesAll reports whether all words of a term are among stems. They need not stand side by side:
// package decode calls an encoded batch a Batch.
func usesAll(used map[string]bool, word string) bool {
	return !slices.ContainsFunc(stems(word), func(s string) bool { return !used[s] })
}

// tokens is the stems of the words in the sources of a package, without its tests.
func tokens(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || !slices.Contains([]string{".go", ".cu", ".cuh"}, filepath.Ext(file)) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stems(string(text)) {
			all[s] = true
		}
	}
	return all
}

// stems is the words of a text without their endings; those of identifiers are taken apart.
func stems(text string) (all []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			all = append(all, stem(strings.ToLower(string(word))))
			word = word[:0]
		}
	}
	lower := false // the last rune was
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r):
			end()
		case unicode.IsUpper(r) && lower:
			end()
			word = append(word, r)
		default:
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	end()
	return all
}

func stem(word string) string {
	for _, ending := range []string{"ies", "ing", "es", "ed", "or", "er", "al", "y", "s", "e"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) >= 3 {
			return rest
		}
	}
	return word
}

// What was renamed stays renamed, in what ships.
func TestRenamedWordsAreGone(t *testing.T) {
	used := map[string]bool{}
	for name, text := range sources(t, ".go") {
		if strings.HasSuffix(name, "_test.go") || !ships(path.Dir(name)) {
			continue
		}
		for _, r := range renamed {
			found := r.word.FindStringIndex(text)
			if found == nil {
				continue
			}
			if within := exception(name, r.except); within != "" {
				used[fmt.Sprint(r.word, within)] = true
				continue
			}
			line := 1 + strings.Count(text[:found[0]], "\n")
			t.Errorf("%s:%d: %s is now called %s (docs/glossary.md)", name, line, text[found[0]:found[1]], r.now)
		}
	}
	for _, r := range renamed {
		for within := range r.except {
			if !used[fmt.Sprint(r.word, within)] {
				t.Errorf("renamed has an exception for %s of %s, which does not use it", r.word, within)
			}
		}
	}
}

// ships reports whether the package in a folder may be part of the program.
func ships(dir string) bool {
	return !strings.HasPrefix(dir, "bench") && !strings.HasPrefix(dir, "docs") && !slices.Contains(testOnly, dir)
}

// exception is the entry of a list of exceptions that a file is in; "": none.
func exception(name string, list map[string]string) string {
	for at := range list {
		if name == at || strings.HasPrefix(name, at+"/") {
			return at
		}
	}
	return ""
}
