package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A comment has at most 100 columns, a tab being four: of Go, of kernels, of C++, of makefiles and
// of shell scripts.
// Drawings and tables, which begin with a tab, may have more, and so may what is generated.
func TestCommentWidth(t *testing.T) {
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if slices.Contains([]string{".git", "build", "node_modules", "testdata"}, name) {
				return filepath.SkipDir
			}
		case slices.Contains([]string{".go", ".cu", ".cuh", ".cc", ".h"}, filepath.Ext(name)) && !strings.Contains(name, "_gen"):
			checkWidth(t, path, "// ")
		case name == "Makefile", strings.HasSuffix(name, ".mk"), strings.HasSuffix(name, ".sh"):
			checkWidth(t, path, "# ")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkWidth wants the comments of a file, which begin with mark, to have at most 100 columns.
func checkWidth(t *testing.T, path, mark string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		comment := strings.TrimLeft(line, "\t ")
		if n := columns(line); strings.HasPrefix(comment, mark) && n > mostColumns {
			t.Errorf("%s:%d: a comment of %d columns", path, i+1, n)
		}
	}
}

const mostColumns = 100

// columns is how wide a line is, where a tab that it begins with is four columns.
func columns(line string) int {
	text := strings.TrimLeft(line, "\t ")
	indent := strings.ReplaceAll(strings.TrimSuffix(line, text), "\t", "    ")
	return len(indent) + utf8.RuneCountInString(text)
}

var (
	// alone is a line that is one link, which cannot be broken.
	alone = regexp.MustCompile(`^ *([-*] )?(!?\[[^]]*\]\([^)]*\)|\S+)$`)
	// generated begins and ends a part of a page that a test writes (package docpart).
	generated = regexp.MustCompile(`^<!-- (end of )?\w+ -->$`)
)

// The text of Markdown has at most 100 columns. Tables and blocks between fences may have more, and
// so may a line that is one link, and what is generated: the parts of package docpart, and the
// results of benches. In issues a line ends where its text does, so their templates are not broken.
func TestProseWidth(t *testing.T) {
	const root = "../.."
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if slices.Contains([]string{".git", ".github", "build", "node_modules", "results"}, d.Name()) ||
				path == filepath.Join(root, "internal/sink/testdata") {
				return filepath.SkipDir
			}
		case filepath.Ext(path) == ".md":
			files++
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, at := range wideProse(string(text)) {
				t.Errorf("%s:%d: text of more than %d columns", path, at, mostColumns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 60 {
		t.Errorf("only %d files found", files)
	}
}

// wideProse is the numbers of the lines of a page whose text is too wide.
func wideProse(page string) (wide []int) {
	fenced, made := false, false
	for i, line := range strings.Split(page, "\n") {
		text := strings.TrimLeft(line, " ")
		switch m := generated.FindStringSubmatch(line); {
		case strings.HasPrefix(text, "```"):
			fenced = !fenced
		case fenced:
		case m != nil:
			made = m[1] == ""
		case made, strings.HasPrefix(text, "|"), columns(line) <= mostColumns, alone.MatchString(line):
		default:
			wide = append(wide, i+1)
		}
	}
	return wide
}

func TestWideProse(t *testing.T) {
	long := strings.Repeat("word ", 21)
	for page, want := range map[string][]int{
		long:                                                      {1},
		"a\n\n- " + long + "\n" + long:                            {3, 4},
		strings.Repeat("é", mostColumns):                          nil,
		"| " + long + "|":                                         nil,
		"```sh\n" + long + "\n```\n" + long:                       {4},
		"- [" + long + "](https://example.org)":                   nil,
		"[" + long + "](https://example.org) and more":            {1},
		"https://example.org/" + strings.Repeat("a", mostColumns): nil,
		"<!-- types -->\n" + long + "\n<!-- end of types -->\n" + long + "\n": {4},
	} {
		if got := wideProse(page); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", page, got, want)
		}
	}
}
