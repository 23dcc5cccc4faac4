package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// familyLine names the family of a source. Sources of one family have kernels of the same names,
// behind those of the sources, and parameters: one Go type launches those of any of them.
var familyLine = regexp.MustCompile(`(?m)^// gen:family (\w+)$`)

// family is the family that a source says it is of, or "".
func (f folder) family(root, source string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, f.file(source+".cu")))
	if match := familyLine.FindSubmatch(text); match != nil {
		return string(match[1]), err
	}
	return "", err
}

// families writes the Go file of each family.
func (g *generator) families(units []unit) error {
	first := map[string]unit{} // by the path of the file
	for _, u := range units {
		if u.family == "" {
			continue
		}
		path := u.folder.file(u.family + "_gen.go")
		switch other, begun := first[path]; {
		case slices.ContainsFunc(units, func(o unit) bool { return o.folder == u.folder && o.source == u.family }):
			g.complain(u.source, fmt.Errorf("its family has the name of %s.cu", u.family))
		case !begun:
			first[path] = u
		case !sameKernels(u, other):
			g.complain(u.source, fmt.Errorf("its kernels are not those of %s.cu, which is of the same family %s", other.source, u.family))
		}
	}
	for _, path := range sortedKeys(first) {
		text, err := familyFile(first[path], g.owners)
		if err != nil {
			return err
		}
		if err := g.emit(path, text); err != nil {
			return err
		}
	}
	return nil
}

// sameKernels reports whether two sources have the same kernels.
func sameKernels(a, b unit) bool {
	return slices.EqualFunc(a.kernels, b.kernels, func(x, y kernel) bool {
		return strings.TrimPrefix(x.name, a.source) == strings.TrimPrefix(y.name, b.source) && slices.Equal(x.params, y.params)
	})
}

// familyFile is the Go file of a family, made from one of its sources: its type and the launch
// methods.
func familyFile(u unit, own owners) ([]byte, error) {
	w := newGoFile(u.folder, "the sources of the family "+u.family)
	w.imports[module+"/internal/cuda"] = ""
	name := camel(u.family)
	w.printf("// %s is the kernels of a source of the family %s in a context.\n", name, u.family)
	w.printf("type %s struct {\n\t%s\n}\n", name, w.qualify("Family", shipped))
	for i, k := range u.kernels {
		k.name = u.family + strings.TrimPrefix(k.name, u.source)
		if err := w.launch(name, u.family, i, k, own); err != nil {
			return nil, err
		}
	}
	return w.bytes()
}
