package main

import (
	"fmt"
	"strings"
)

// launchFile is the Go file of a source: its family's type, load function and
// launch methods.
func launchFile(f folder, source string, kernels []kernel, own owners) ([]byte, error) {
	family, ptx := camel(source), lower(source)+"PTX"
	w := newGoFile(f, source+".cu")
	w.imports["embed"] = "_"
	w.imports[module+"/internal/cuda"] = ""
	loads := w.qualify("Family", shipped)
	w.printf("//go:embed ptx/%s.ptx\nvar %s []byte\n\n", source, ptx)
	w.printf("// %s is the kernels of %s.cu, loaded into a context.\ntype %s struct {\n\t%s\n}\n\n", family, source, family, loads)
	w.printf("// Load%s loads the kernels of %s.cu. The caller closes them.\n", family, source)
	w.printf("func Load%s(t *cuda.Thread) (*%s, error) {\n\tk := new(%s)\n", family, family, family)
	w.printf("\tif err := k.Load(t, %q, %s%s); err != nil {\n\t\treturn nil, err\n\t}\n\treturn k, nil\n}\n", source+".cu", ptx, quoted(kernels))
	for i, k := range kernels {
		if err := w.launch(family, source, i, k, own); err != nil {
			return nil, err
		}
	}
	return w.bytes()
}

func quoted(kernels []kernel) string {
	var b strings.Builder
	for _, k := range kernels {
		fmt.Fprintf(&b, ", %q", k.name)
	}
	return b.String()
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
		w.printf("\treturn stream.Launch(k.Kernel(%d), grid, nil, 0)\n}\n", i)
		return nil
	}
	w.imports["unsafe"] = ""
	w.printf("\targs := %s{%s}\n", args, strings.TrimPrefix(values.String(), ", "))
	w.printf("\treturn stream.Launch(k.Kernel(%d), grid, unsafe.Pointer(&args), %d)\n}\n\n", i, end(k.params))
	w.printf("// %s lies in memory as %s's parameters.\n", args, k.name)
	return w.structType(args, paramName, k.params, end(k.params), own)
}
