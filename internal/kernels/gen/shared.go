package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// parseAll reads the declarations of all sources, but of layout.cu, which is
// made from them. A source that cannot be read is a problem if it was asked for.
func (g *generator) parseAll() ([]unit, error) {
	var units []unit
	var known []string
	for _, f := range folders {
		sources, err := f.sources(g.root)
		if err != nil {
			return nil, err
		}
		known = append(known, sources...)
		for _, source := range sources {
			if f == forTests && source == layoutName {
				continue
			}
			u, err := g.parse(f, source)
			if err != nil {
				g.unread++
				g.complain(source, err)
				continue
			}
			units = append(units, u)
		}
	}
	for _, source := range g.only {
		if !slices.Contains(known, source) {
			return nil, fmt.Errorf("there is no %s.cu", source)
		}
	}
	return units, nil
}

// wanted tells whether a source is to be compiled. That of the layouts always
// is: it would not compile any more when a struct has changed.
func (g *generator) wanted(source string) bool {
	return len(g.only) == 0 || slices.Contains(g.only, source) || source == layoutName
}

// complain keeps a source's error, or, if nobody asked for the source, tells
// that it was left out.
func (g *generator) complain(source string, err error) {
	if g.wanted(source) {
		g.problems = append(g.problems, fmt.Errorf("%s.cu: %w", source, err))
	} else {
		g.tell(source + ".cu cannot be read now: its structs stay as they are")
	}
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
	if u.family, err = f.family(g.root, source); err != nil {
		return unit{}, err
	}
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
	u.resolver = r
	return u, nil
}

var mirrored = regexp.MustCompile(`(?m)^type (\w+) struct`)

// keepMirrored keeps the structs that a header's Go file has already: when not
// all sources could be read, one of the others may use them.
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

// layoutName is the source, in kerneltest, of the kernel that reports layouts.
const layoutName = "layout"

// layout writes and reads layout.cu.
func (g *generator) layout() ([]unit, error) {
	if len(g.shared) == 0 {
		return nil, nil
	}
	ordered := map[owner][]record{}
	for o, records := range g.shared {
		ordered[o] = inOrder(records)
	}
	if err := g.emit(forTests.file(layoutName+".cu"), layoutSource(ordered)); err != nil {
		return nil, err
	}
	test, err := layoutTest(ordered)
	if err != nil {
		return nil, err
	}
	if err := g.emit(forTests.file("layout_gen_test.go"), test); err != nil {
		return nil, err
	}
	u, err := g.parse(forTests, layoutName)
	if err != nil {
		g.complain(layoutName, err)
		return nil, nil
	}
	return []unit{u}, nil
}
