package main

import (
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gagg-dev/gagg/internal/bounded"
)

var updateDocs = flag.Bool("update", false, "TestDocs writes into README.md and docs what the commands there print")

// TestDocs runs what README.md and the pages of docs show. The word behind the fence of a block
// says what becomes of it:
//
//	console  Lines that begin with "$ " are commands, which go on in the next line after a \; what
//	         follows is what they print on a terminal of 100 columns, without a bar. A line that is …
//	         stands for any lines, and … in a line for any text. The commands of a page run one after
//	         the other, in a folder that has testdata. Those of binaryOnly run in an empty one, with
//	         no command but gagg and what bash has itself.
//	sh       Commands that cannot run here, with a bucket or a GPU. The flags of gagg are read, and
//	         what make is to make is in the Makefile.
//	go       A piece of an example of the library, which go test runs.
//
// Commands stand in such blocks only. In the text, flags, targets of make and names of the library
// (gagg.Run) are there, and files that are linked to.
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs of whole processes")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, library := exampleCode(t), libraryNames(t)
	for _, page := range append(pages, "../../README.md") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			p := docsPage{t: t, name: filepath.Base(page), path: os.Getenv("PATH"), beside: filepath.Dir(page), examples: examples, library: library}
			if p.name == binaryOnly {
				p.dir, p.path = t.TempDir(), onlyGagg(t)
			} else {
				p.dir = docsFolder(t)
			}
			if made := p.check(string(text)); *updateDocs && made != string(text) {
				if err := os.WriteFile(page, []byte(made), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// binaryOnly is the page for users who have only the binary.
const binaryOnly = "first-steps.md"

// onlyGagg is a folder that has gagg and nothing else.
func onlyGagg(t *testing.T) string {
	t.Helper()
	gagg, err := exec.LookPath("gagg")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(gagg)
	if there, err := os.ReadDir(dir); err != nil || len(there) != 1 {
		t.Fatalf("%s holds %v, %v", dir, there, err)
	}
	return dir
}

// docsFolder is where the commands of a page run.
func docsFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "testdata"), 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../testdata/*.parquet")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		from, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, filepath.Join(dir, "testdata", filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// exampleCode is the code of the library's examples, as plainCode has it.
func exampleCode(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../../example*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../../docs/arrow18/example_test.go")
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(plainCode(string(text)))
	}
	return all.String()
}

// libraryNames are what package gagg declares.
func libraryNames(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../../*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name := range parsed.Scope.Objects {
			names[name] = true
		}
	}
	return names
}

// plainCode is code without its indentation.
func plainCode(code string) string {
	var lines []string
	for line := range strings.Lines(code) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// docsPage is a page that is checked.
type docsPage struct {
	t         *testing.T
	name, dir string
	path      string // where the commands are
	beside    string // the folder of the page
	examples  string
	library   map[string]bool
}

// commandsOutside finds gagg called in a block without a fence.
var commandsOutside = regexp.MustCompile(`^ {4}(\$ )?(\./)?gagg `)

// check checks the blocks of a page, and returns its text with what the commands print.
func (p *docsPage) check(text string) string {
	var made []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		made = append(made, lines[i])
		language, fence := strings.CutPrefix(lines[i], "```")
		if !fence {
			p.text(i+1, lines[i])
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		if end == len(lines) {
			p.t.Errorf("%s:%d: the block has no end", p.name, i+1)
			break
		}
		made = append(made, p.block(language, i+2, lines[i+1:end])...)
		made = append(made, "```")
		i = end
	}
	return strings.Join(made, "\n")
}

var (
	flagNamed  = regexp.MustCompile("`--([a-z-]+)")
	makeNamed  = regexp.MustCompile("`make ([a-z][a-z/-]*)[` ]")
	goNamed    = regexp.MustCompile("`gagg\\.([A-Z]\\w*)")
	fileLinked = regexp.MustCompile(`\]\(([^)#:]+)[)#]`)
)

// text checks a line outside of blocks.
func (p *docsPage) text(at int, line string) {
	if commandsOutside.MatchString(line) {
		p.t.Errorf("%s:%d: a command in a block without a fence", p.name, at)
	}
	for _, m := range flagNamed.FindAllStringSubmatch(line, -1) {
		if flagSet(&settings{}).Lookup(m[1]) == nil {
			p.t.Errorf("%s:%d: there is no flag --%s", p.name, at, m[1])
		}
	}
	for _, m := range makeNamed.FindAllStringSubmatch(line, -1) {
		p.target(at, m[1])
	}
	for _, m := range goNamed.FindAllStringSubmatch(line, -1) {
		if !p.library[m[1]] && !strings.HasPrefix(m[1], "Test") {
			p.t.Errorf("%s:%d: there is no gagg.%s", p.name, at, m[1])
		}
	}
	for _, m := range fileLinked.FindAllStringSubmatch(line, -1) {
		if _, err := os.Stat(filepath.Join(p.beside, m[1])); err != nil {
			p.t.Errorf("%s:%d: %v", p.name, at, err)
		}
	}
}

// target wants make to know what it is to make.
func (p *docsPage) target(at int, name string) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		p.t.Fatal(err)
	}
	if !strings.Contains(string(makefile), "\n"+name+":") && !strings.Contains(string(makefile), "\n.PHONY: "+name+"\n") {
		p.t.Errorf("%s:%d: there is no make %s", p.name, at, name)
	}
}

// block checks a block that begins in the line at, and returns it as it should be.
func (p *docsPage) block(language string, at int, block []string) []string {
	switch language {
	case "console":
		return p.console(at, block)
	case "sh":
		p.flags(at, block)
	case "go":
		if !strings.Contains(p.examples, plainCode(strings.Join(block, "\n"))) {
			p.t.Errorf("%s:%d: no example of the library has this code", p.name, at)
		}
	default:
		for i, line := range block {
			if commandsOutside.MatchString("    " + line) {
				p.t.Errorf("%s:%d: a command in a block that is neither console nor sh", p.name, at+i)
			}
		}
	}
	return block
}

// console runs the commands of a block.
func (p *docsPage) console(at int, block []string) (made []string) {
	for i := 0; i < len(block); {
		first := i
		command, found := strings.CutPrefix(block[i], "$ ")
		if !found {
			p.t.Errorf("%s:%d: want a command, which begins with $", p.name, at+i)
			return block
		}
		for strings.HasSuffix(block[i], `\`) && i+1 < len(block) {
			i++
			command += "\n" + block[i]
		}
		i++
		made = append(made, block[first:i]...)
		from := i
		for i < len(block) && !strings.HasPrefix(block[i], "$ ") {
			i++
		}
		want, got := block[from:i], p.run(command)
		if asShown(want, got) {
			got = want
		} else if !*updateDocs {
			p.t.Errorf("%s:%d: %s\nprints\n%s\nwant\n%s", p.name, at+first, command, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		made = append(made, got...)
	}
	return made
}

// run is what a command prints, in lines.
func (p *docsPage) run(command string) []string {
	terminal, shown := newTerminal(p.t)
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 100}); err != nil {
		p.t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		p.t.Fatal(err)
	}
	c := bounded.Command(p.t, bash, "-c", command)
	c.Dir, c.Stdout, c.Stderr = p.dir, terminal, terminal
	c.Env = []string{"PATH=" + p.path, "HOME=" + p.dir, "TMPDIR=" + p.dir, "TERM=xterm", "LC_ALL=C.UTF-8", "GAGG_PROGRESS=never"}
	_ = c.Run() // a command that fails shows its message
	text := strings.ReplaceAll(shown(), "\r\n", "\n")
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// asShown reports whether lines are those that a page shows.
func asShown(shown, lines []string) bool {
	if len(shown) == 0 {
		return len(lines) == 0
	}
	if shown[0] == "…" {
		for i := range len(lines) + 1 {
			if asShown(shown[1:], lines[i:]) {
				return true
			}
		}
		return false
	}
	if len(lines) == 0 {
		return false
	}
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(shown[0]), "…", ".*") + "$"
	return regexp.MustCompile(pattern).MatchString(lines[0]) && asShown(shown[1:], lines[1:])
}

// flags reads the flags of each gagg in a block, as gagg would.
func (p *docsPage) flags(at int, block []string) {
	text := strings.ReplaceAll(strings.Join(block, "\n"), "\\\n", " ")
	for line := range strings.Lines(text) {
		for _, words := range simpleCommands(line) {
			for len(words) > 0 && strings.Contains(words[0], "=") {
				words = words[1:] // a variable
			}
			if len(words) == 2 && words[0] == "make" {
				p.target(at, words[1])
			}
			if len(words) == 0 || filepath.Base(words[0]) != "gagg" {
				continue
			}
			if _, _, err := parseSettings(words[1:], nil); err != nil {
				p.t.Errorf("%s:%d: %s: %v", p.name, at, strings.TrimSpace(line), err)
			}
		}
	}
}

// simpleCommands cuts a line of a shell at its operators and blanks, outside of quotes.
func simpleCommands(line string) (commands [][]string) {
	var words []string
	word := ""
	flush := func() {
		if word != "" {
			plain, _ := plainWord(word)
			words = append(words, plain)
		}
		word = ""
	}
	for _, r := range line + "\n" {
		_, open := plainWord(word)
		switch {
		case open != 0:
			word += string(r)
		case r == '#' && word == "":
			return append(commands, words)
		case strings.ContainsRune("|;&<>()\n", r):
			flush()
			commands, words = append(commands, words), nil
		case r == ' ':
			flush()
		default:
			word += string(r)
		}
	}
	return commands
}

func TestAsShown(t *testing.T) {
	for _, c := range []struct {
		shown, lines string
		same         bool
	}{
		{"a|b", "a|b", true},
		{"a|b", "a", false},
		{"a", "a|b", false},
		{"a.c", "abc", false},
		{"a|…", "a", true},
		{"a|…", "a|b|c", true},
		{"…|c", "a|b|c", true},
		{"…|c", "a|b", false},
		{"a|…|c|…", "a|c", true},
		{"took … s", "took 1.5 s", true},
		{"took … s", "took", false},
	} {
		if got := asShown(strings.Split(c.shown, "|"), strings.Split(c.lines, "|")); got != c.same {
			t.Errorf("%s for %s: %v", c.shown, c.lines, got)
		}
	}
	if got := fmt.Sprintf("%q", simpleCommands(`A=1 gagg -k 'x|y' "b c"|head; ./gagg --schema x # gagg`)); got != `[["A=1" "gagg" "-k" "x|y" "b c"] ["head"] ["./gagg" "--schema" "x"]]` {
		t.Error(got)
	}
}
