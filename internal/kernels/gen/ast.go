package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// node is what we need of a node of clang's syntax tree in JSON.
type node struct {
	Kind        string `json:"kind"`
	Name        string `json:"name"`
	MangledName string `json:"mangledName"`
	Value       any    `json:"value"`
	Type        struct {
		Spelled   string `json:"qualType"`
		Desugared string `json:"desugaredQualType"` // without typedefs; empty when there are none
	} `json:"type"`
	Complete   bool              `json:"completeDefinition"`
	IsBitfield bool              `json:"isBitfield"`
	Bases      []json.RawMessage `json:"bases"`
	Inner      []node            `json:"inner"`
}

// children returns the inner nodes of a kind.
func (n *node) children(kind string) []node {
	var found []node
	for _, c := range n.Inner {
		if c.Kind == kind {
			found = append(found, c)
		}
	}
	return found
}

// aligned is the alignment that alignas asks for, or "".
func (n *node) aligned() string {
	for _, attribute := range n.children("AlignedAttr") {
		for _, value := range attribute.Inner {
			return fmt.Sprint(value.Value)
		}
	}
	return ""
}

// kernel is a __global__ function.
type kernel struct {
	name   string
	params []field
}

// tree is what a source declares: its kernels in order, and all structs outside
// namespaces and templates, those of its headers included.
type tree struct {
	kernels []node
	structs map[string]node
}

// readTree takes the kernels and structs out of clang's JSON.
func readTree(text []byte) (tree, error) {
	var top node
	if err := json.Unmarshal(text, &top); err != nil {
		return tree{}, fmt.Errorf("the compiler's syntax tree: %w", err)
	}
	t := tree{structs: map[string]node{}}
	return t, t.visit(top)
}

func (t *tree) visit(n node) error {
	for _, c := range n.Inner {
		switch {
		case c.Kind == "LinkageSpecDecl":
			if err := t.visit(c); err != nil {
				return err
			}
		case c.Kind == "CXXRecordDecl" && c.Complete && c.Name != "":
			t.structs[c.Name] = c
		case c.Kind == "FunctionDecl" && len(c.children("CUDAGlobalAttr")) > 0 && len(c.children("CompoundStmt")) > 0:
			if c.MangledName != c.Name {
				return fmt.Errorf("kernel %s is not extern \"C\"", c.Name)
			}
			t.kernels = append(t.kernels, c)
		}
	}
	return nil
}

// readKernels checks the kernels' names and resolves their parameters.
func (t *tree) readKernels(source string, r *resolver) ([]kernel, error) {
	var kernels []kernel
	for _, n := range t.kernels {
		rest, ok := strings.CutPrefix(n.Name, source+"_")
		if !ok || rest == "" {
			return nil, fmt.Errorf("kernel %s of %s.cu is not named %s_…", n.Name, source, source)
		}
		if slices.Contains(familyMethods, camel(rest)) {
			return nil, fmt.Errorf("kernel %s: its method %s is one that every family has", n.Name, camel(rest))
		}
		params, _, err := r.fields(n.children("ParmVarDecl"))
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", n.Name, err)
		}
		kernels = append(kernels, kernel{n.Name, params})
	}
	return kernels, nil
}
