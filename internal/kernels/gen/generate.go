package main

import (
	"errors"
	"fmt"
	"io"
)

// generator makes all files of all folders. A source that does not compile is
// left as it was, and does not keep the others from being made.
type generator struct {
	root      string
	tools     toolkit
	assembler assembler
	owners    owners
	only      []string // sources that were asked for; empty: all
	check     bool     // write nothing
	report    io.Writer

	shared   map[owner]map[string]record // the structs that Go shares, by the header that declares them
	made     map[string]bool             // paths
	unread   int                         // sources whose declarations are unknown
	differ   int                         // of a check
	problems []error
}

// unit is a source.
type unit struct {
	folder  folder
	source  string // without .cu
	family  string // see familyLine
	kernels []kernel
	records []record

	resolver *resolver // of the structs that the source sees
}

func generateAll(root, clang, ptxas string, only []string, check bool, report io.Writer) error {
	tools, err := findToolkit(root, clang)
	if err != nil {
		return err
	}
	assembler, err := findAssembler(ptxas)
	if err != nil {
		return err
	}
	g := &generator{
		root: root, tools: tools, assembler: assembler, only: only, check: check, report: report,
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
	if g.unread > 0 {
		for _, u := range units {
			g.keepMirrored(u.resolver)
		}
	}
	if err := g.mirrors(); err != nil {
		return err
	}
	if err := g.families(units); err != nil {
		return err
	}
	layout, err := g.layout()
	if err != nil {
		return err
	}
	units = append(units, layout...)
	for _, f := range folders {
		if err := g.compileAll(f, units); err != nil {
			return err
		}
	}
	if len(g.only) == 0 && len(g.problems) == 0 { // else what is not made need not be stale
		return g.removeStale()
	}
	return nil
}

// compileAll makes the PTX, the launch functions and the manifest of a folder.
func (g *generator) compileAll(f folder, units []unit) error {
	lines, present := manifest{}, map[string]bool{}
	for _, u := range units {
		if u.folder != f || !g.wanted(u.source) {
			continue
		}
		if err := g.compile(u, lines); err != nil {
			g.complain(u.source, err)
		}
	}
	sources, err := f.sources(g.root)
	if err != nil {
		return err
	}
	for _, source := range sources {
		present[source+".ptx"], present[source+".code"] = true, f.hasCode()
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

// compile makes the files of one source, and adds what the manifest says of them to lines.
func (g *generator) compile(u unit, lines manifest) error {
	ptx, inputs, err := g.tools.ptx(u.folder.file(u.source+".cu"), assertions(u.records))
	if err != nil {
		return err
	}
	launches, err := launchFile(u, g.owners)
	if err != nil {
		return err
	}
	line, err := manifestLine(g.root, u.source+".ptx", ptx, g.tools.version, inputs)
	if err != nil {
		return err
	}
	if u.folder.hasCode() {
		code, line, err := g.code(u, ptx)
		if err != nil {
			return err
		}
		if err := g.emit(u.folder.file("ptx/"+u.source+".code"), code); err != nil {
			return err
		}
		lines[u.source+".code"] = line
	}
	lines[u.source+".ptx"] = line
	if err := g.emit(u.folder.file("ptx/"+u.source+".ptx"), ptx); err != nil {
		return err
	}
	return g.emit(u.folder.file(u.source+"_gen.go"), launches)
}
