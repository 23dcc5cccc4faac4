package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// generator makes all files of all folders. A source that does not compile is
// left as it was, and does not keep the others from being made.
type generator struct {
	root   string
	tools  toolkit
	owners owners
	only   []string // sources that were asked for; empty: all
	check  bool     // write nothing
	report io.Writer

	shared   map[owner]map[string]record // the structs that Go shares, by the header that declares them
	made     map[string]bool             // paths
	differ   int                         // of a check
	problems []error
}

// unit is a source.
type unit struct {
	folder  folder
	source  string // without .cu
	kernels []kernel
	records []record
}

func generateAll(root, clang string, only []string, check bool, report io.Writer) error {
	tools, err := findToolkit(root, clang)
	if err != nil {
		return err
	}
	g := &generator{
		root: root, tools: tools, only: only, check: check, report: report,
		shared: map[owner]map[string]record{}, made: map[string]bool{},
	}
	if err := g.generate(); err != nil {
		return err
	}
	if g.differ > 0 {
		g.problems = append(g.problems, fmt.Errorf("%d files differ from what %s makes of the sources", g.differ, tools.version))
	}
	return errors.Join(g.problems...)
}

func (g *generator) generate() error {
	if err := g.status(); err != nil {
		return err
	}
	var err error
	if g.owners, err = findOwners(g.root); err != nil {
		return err
	}
	units, err := g.parseAll()
	if err != nil {
		return err
	}
	if err := g.mirrors(); err != nil {
		return err
	}
	if g.whole() {
		layout, err := g.layout()
		if err != nil {
			return err
		}
		units = append(units, layout...)
	}
	for _, f := range folders {
		if err := g.compileAll(f, units); err != nil {
			return err
		}
	}
	if g.whole() {
		return g.removeStale()
	}
	return nil
}

// whole tells whether all sources are known, so that what is not made is stale.
func (g *generator) whole() bool { return len(g.only) == 0 && len(g.problems) == 0 }

// parseAll reads the declarations of the sources, but of layout.cu, which is
// made from them.
func (g *generator) parseAll() ([]unit, error) {
	var units []unit
	for _, f := range folders {
		sources, err := f.sources(g.root)
		if err != nil {
			return nil, err
		}
		for _, source := range sources {
			isLayout := f == forTests && source == "layout"
			if isLayout || len(g.only) > 0 && !slices.Contains(g.only, source) {
				continue
			}
			u, err := g.parse(f, source)
			if err != nil {
				g.problems = append(g.problems, fmt.Errorf("%s.cu: %w", source, err))
				continue
			}
			units = append(units, u)
		}
	}
	return units, nil
}

func (g *generator) parse(f folder, source string) (unit, error) {
	t, err := g.tools.tree(f.file(source + ".cu"))
	if err != nil {
		return unit{}, err
	}
	r := &resolver{structs: t.structs, begun: map[string]bool{}, done: map[string]record{}}
	kernels, err := t.readKernels(source, r)
	if err != nil {
		return unit{}, err
	}
	if len(kernels) == 0 {
		return unit{}, errors.New("no kernels")
	}
	u := unit{folder: f, source: source, kernels: kernels}
	for _, name := range sortedKeys(r.done) {
		o, err := g.owners.of(name)
		if err == nil && !strings.HasSuffix(o.file, ".cuh") {
			err = fmt.Errorf("struct %s is shared with Go: it belongs into a header, not into %s", name, o.file)
		}
		if err != nil {
			return unit{}, err
		}
		if g.shared[o] == nil {
			g.shared[o] = map[string]record{}
		}
		g.shared[o][name] = r.done[name]
		u.records = append(u.records, r.done[name])
	}
	if len(g.only) > 0 {
		g.keepMirrored(r)
	}
	return u, nil
}

var mirrored = regexp.MustCompile(`(?m)^type (\w+) struct`)

// keepMirrored keeps the structs that a header's Go file has already: when only
// some sources are read, nobody knows whether another one uses them.
func (g *generator) keepMirrored(r *resolver) {
	for o, records := range g.shared {
		text, _ := os.ReadFile(filepath.Join(g.root, o.folder.file(mirrorName(o.file))))
		for _, match := range mirrored.FindAllSubmatch(text, -1) {
			name := string(match[1])
			if _, exists := r.structs[name]; exists && !r.begun[name] {
				if rec, err := r.record(name); err == nil {
					records[name] = rec
				}
			}
		}
	}
}

// mirrors writes the headers' Go files.
func (g *generator) mirrors() error {
	for o, records := range g.shared {
		text, err := mirrorFile(o, inOrder(records), g.owners)
		if err != nil {
			return err
		}
		if err := g.emit(o.folder.file(mirrorName(o.file)), text); err != nil {
			return err
		}
	}
	return nil
}

func inOrder(records map[string]record) []record {
	ordered := make([]record, 0, len(records))
	for _, name := range sortedKeys(records) {
		ordered = append(ordered, records[name])
	}
	return ordered
}

// layout writes and reads layout.cu.
func (g *generator) layout() ([]unit, error) {
	if len(g.shared) == 0 {
		return nil, nil
	}
	ordered := map[owner][]record{}
	for o, records := range g.shared {
		ordered[o] = inOrder(records)
	}
	if err := g.emit(forTests.file("layout.cu"), layoutSource(ordered)); err != nil {
		return nil, err
	}
	test, err := layoutTest(ordered)
	if err != nil {
		return nil, err
	}
	if err := g.emit(forTests.file("layout_gen_test.go"), test); err != nil {
		return nil, err
	}
	u, err := g.parse(forTests, "layout")
	return []unit{u}, err
}

// compileAll makes the PTX, the launch functions and the manifest of a folder.
func (g *generator) compileAll(f folder, units []unit) error {
	lines, present := manifest{}, map[string]bool{}
	for _, u := range units {
		if u.folder != f {
			continue
		}
		line, err := g.compile(u)
		if err != nil {
			g.problems = append(g.problems, fmt.Errorf("%s.cu: %w", u.source, err))
			continue
		}
		lines[u.source+".ptx"] = line
	}
	sources, err := f.sources(g.root)
	if err != nil {
		return err
	}
	for _, source := range sources {
		present[source+".ptx"] = true
	}
	m, err := readManifest(g.root, f)
	if err != nil {
		return err
	}
	for name, line := range lines {
		m[name] = line
	}
	m.keepOnly(present)
	return g.emit(f.file("ptx/MANIFEST"), m.bytes())
}

// compile makes the files of one source, and returns its line of the manifest.
func (g *generator) compile(u unit) (string, error) {
	ptx, inputs, err := g.tools.ptx(u.folder.file(u.source+".cu"), assertions(u.records))
	if err != nil {
		return "", err
	}
	launches, err := launchFile(u.folder, u.source, u.kernels, g.owners)
	if err != nil {
		return "", err
	}
	if err := g.emit(u.folder.file("ptx/"+u.source+".ptx"), ptx); err != nil {
		return "", err
	}
	if err := g.emit(u.folder.file(u.source+"_gen.go"), launches); err != nil {
		return "", err
	}
	return manifestLine(g.root, u.source+".ptx", ptx, g.tools.version, inputs)
}

// emit writes a file unless it is so already; of a check, it tells of the difference.
func (g *generator) emit(path string, content []byte) error {
	g.made[path] = true
	file := filepath.Join(g.root, path)
	old, err := os.ReadFile(file)
	if err == nil && bytes.Equal(old, content) {
		return nil
	}
	fmt.Fprintln(g.report, path)
	if g.check {
		g.differ++
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o666)
}

// removeStale removes generated files whose source is gone.
func (g *generator) removeStale() error {
	for _, f := range folders {
		for _, pattern := range []string{"*_gen.go", "ptx/*.ptx"} {
			files, err := filepath.Glob(filepath.Join(g.root, f.dir, pattern))
			if err != nil {
				return err
			}
			for _, file := range files {
				path, err := filepath.Rel(g.root, file)
				if err != nil || g.made[filepath.ToSlash(path)] {
					continue
				}
				fmt.Fprintln(g.report, filepath.ToSlash(path), "is stale")
				if g.check {
					g.differ++
				} else if err := os.Remove(file); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
