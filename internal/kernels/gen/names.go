package main

import (
	"go/token"
	"slices"
	"strings"
	"unicode"
)

// familyMethods is what kernels.Family gives every family: no kernel's method
// may have these names.
var familyMethods = []string{"Family", "LoadAll", "Parts", "Kernel", "Enqueue"}

// camel turns a name of C into an exported name of Go: page_bytes, PageBytes.
func camel(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case r == '_':
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lower turns a name of C into an unexported name of Go: page_bytes, pageBytes.
func lower(name string) string {
	name = camel(name)
	return strings.ToLower(name[:1]) + name[1:]
}

// reserved is the names that a launch method uses itself, and the packages it needs.
var reserved = []string{"k", "stream", "grid", "args", "cuda", "kernels", "unsafe"}

// paramName is a parameter's name in Go.
func paramName(name string) string {
	name = lower(name)
	if token.IsKeyword(name) || slices.Contains(reserved, name) {
		return name + "Arg"
	}
	return name
}
