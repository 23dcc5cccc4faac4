package main

import (
	"fmt"
	"strconv"
	"strings"
)

// launchFile is the Go file of a source: its kernels' type, the functions that make and
// load it, and the launch methods. A source of a family has the first of these functions only.
func launchFile(u unit, own owners) ([]byte, error) {
	f, source, kernels := u.folder, u.source, u.kernels
	family, ptx := camel(source), lower(source)+"PTX"
	w := newGoFile(f, source+".cu")
	w.imports["embed"] = "_"
	w.imports[module+"/internal/cuda"] = ""
	described, create := w.qualify("Source", shipped), w.qualify("NewFamily", shipped)
	w.printf("//go:embed ptx/%s.ptx\nvar %s []byte\n\n", source, ptx)
	code := ""
	if f.hasCode() {
		w.printf("//go:embed ptx/%s.code\nvar %sCode []byte\n\n", source, lower(source))
		code = fmt.Sprintf("Code: %sCode, ", lower(source))
	}
	w.printf("var %sSource = %s{PTX: %s, %sKernels: []string{%s}}\n\n", lower(source), described, ptx, code, quoted(kernels))
	if u.family != "" {
		w.printf("// New%s is the kernels of %s.cu in a context, not loaded yet.\n", family, source)
		w.printf("func New%s(c *cuda.Context) *%s { return &%s{%s(c, &%sSource)} }\n", family, camel(u.family), camel(u.family), create, lower(source))
		return w.bytes()
	}
	w.printf("// %s is the kernels of %s.cu in a context.\ntype %s struct {\n\t%s\n}\n\n", family, source, family, w.qualify("Family", shipped))
	w.printf("// New%s is the kernels of %s.cu in a context, not loaded yet.\n", family, source)
	w.printf("func New%s(c *cuda.Context) *%s { return &%s{%s(c, &%sSource)} }\n\n", family, family, family, create, lower(source))
	w.printf("// Load%s loads all kernels of %s.cu.\n", family, source)
	w.printf("func Load%s(t *cuda.Thread) (*%s, error) {\n\tk := New%s(t.Context())\n", family, family, family)
	w.printf("\tif err := k.LoadAll(); err != nil {\n\t\treturn nil, err\n\t}\n\treturn k, nil\n}\n")
	for i, k := range kernels {
		if err := w.launch(family, source, i, k, own); err != nil {
			return nil, err
		}
	}
	return w.bytes()
}

func quoted(kernels []kernel) string {
	var names []string
	for _, k := range kernels {
		names = append(names, strconv.Quote(k.name))
	}
	return strings.Join(names, ", ")
}

// launch writes the method that launches the i-th kernel, and the struct it
// hands over.
func (w *goFile) launch(family, source string, i int, k kernel, own owners) error {
	method := camel(strings.TrimPrefix(k.name, source+"_"))
	args := lower(k.name) + "Args"
	var params, values strings.Builder
	for _, p := range k.params {
		goType, err := w.goType(p.shape, own)
		if err != nil {
			return fmt.Errorf("kernel %s: %w", k.name, err)
		}
		fmt.Fprintf(&params, ", %s %s", paramName(p.name), goType)
		fmt.Fprintf(&values, ", %s: %s", paramName(p.name), paramName(p.name))
	}
	w.printf("\n// %s launches %s.\n", method, k.name)
	w.printf("func (k *%s) %s(stream *cuda.Stream, grid cuda.Grid%s) error {\n", family, method, params.String())
	if len(k.params) == 0 {
		w.printf("\treturn k.Enqueue(stream, %d, grid, nil, 0)\n}\n", i)
		return nil
	}
	w.imports["unsafe"] = ""
	w.printf("\targs := %s{%s}\n", args, strings.TrimPrefix(values.String(), ", "))
	w.printf("\treturn k.Enqueue(stream, %d, grid, unsafe.Pointer(&args), %d)\n}\n\n", i, end(k.params))
	w.printf("// %s lies in memory as %s's parameters.\n", args, k.name)
	return w.structType(args, paramName, k.params, end(k.params), own)
}
