package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// shape is how a C type lies in the memory of the device, and its twin in Go.
type shape struct {
	goType      string // of a scalar; empty for a struct
	record      string // the name of a struct, or empty
	count       int    // of an array, or 0
	size, align int    // in bytes, of all elements
}

// field is a member of a struct, or a parameter of a kernel.
type field struct {
	name   string // in C
	offset int
	shape  shape
}

// record is a struct that Go and kernels share.
type record struct {
	name        string
	fields      []field
	size, align int
}

// end is the offset of the first byte behind the last field: without the
// padding that follows it.
func end(fields []field) int {
	if len(fields) == 0 {
		return 0
	}
	last := fields[len(fields)-1]
	return last.offset + last.shape.size
}

// scalars by the names clang gives them, with typedefs resolved, on a device
// where long has 64 bits.
var scalars = map[string]shape{
	"bool":               {goType: "bool", size: 1, align: 1},
	"signed char":        {goType: "int8", size: 1, align: 1},
	"short":              {goType: "int16", size: 2, align: 2},
	"int":                {goType: "int32", size: 4, align: 4},
	"long":               {goType: "int64", size: 8, align: 8},
	"long long":          {goType: "int64", size: 8, align: 8},
	"unsigned char":      {goType: "uint8", size: 1, align: 1},
	"unsigned short":     {goType: "uint16", size: 2, align: 2},
	"unsigned int":       {goType: "uint32", size: 4, align: 4},
	"unsigned long":      {goType: "uint64", size: 8, align: 8},
	"unsigned long long": {goType: "uint64", size: 8, align: 8},
	"float":              {goType: "float32", size: 4, align: 4},
	"double":             {goType: "float64", size: 8, align: 8},
}

// typedefs of stdint.h. clang resolves a typedef itself, but not inside an array.
var typedefs = map[string]string{
	"int8_t": "signed char", "int16_t": "short", "int32_t": "int", "int64_t": "long",
	"uint8_t": "unsigned char", "uint16_t": "unsigned short", "uint32_t": "unsigned int", "uint64_t": "unsigned long",
	"size_t": "unsigned long",
}

// resolver finds the shapes of types; it keeps the structs it meets.
type resolver struct {
	structs map[string]node
	begun   map[string]bool
	done    map[string]record
}

var arrayType = regexp.MustCompile(`^(.*\S)\s*\[(\d+)\]$`)

// resolve returns the shape of a type.
func (r *resolver) resolve(spelled, desugared string) (shape, error) {
	name := strings.TrimSpace(strings.TrimPrefix(spelled, "const "))
	if array := arrayType.FindStringSubmatch(name); array != nil {
		element, err := r.resolve(array[1], "")
		count, _ := strconv.Atoi(array[2]) // digits, and a size that the compiler accepted
		if err == nil && element.count > 0 {
			err = fmt.Errorf("%s: an array of arrays", spelled)
		}
		element.count, element.size = count, count*element.size
		return element, err
	}
	if pointee, _, isPointer := strings.Cut(name, "*"); isPointer {
		r.pointee(pointee)
		return shape{goType: "cuda.Ptr", size: 8, align: 8}, nil
	}
	for _, n := range []string{name, typedefs[name], strings.TrimPrefix(desugared, "const ")} {
		if s, ok := scalars[n]; ok {
			return s, nil
		}
		if _, ok := r.structs[n]; ok {
			rec, err := r.record(n)
			return shape{record: n, size: rec.size, align: rec.align}, err
		}
	}
	return shape{}, fmt.Errorf("type %s cannot be shared with Go", spelled)
}

// pointee keeps the struct that a pointer leads to, if it is one that Go can share.
func (r *resolver) pointee(name string) {
	name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "const "))
	if _, ok := r.structs[name]; ok && !r.begun[name] {
		_, _ = r.record(name) // one that cannot be shared is a plain pointer to Go
	}
}

// record lays out a struct.
func (r *resolver) record(name string) (record, error) {
	if rec, ok := r.done[name]; ok {
		return rec, nil
	}
	r.begun[name] = true
	n := r.structs[name]
	if len(n.Bases) > 0 {
		return record{}, fmt.Errorf("struct %s has a base", name)
	}
	fields, align, err := r.fields(n.children("FieldDecl"))
	if err == nil && len(fields) == 0 {
		err = fmt.Errorf("no members")
	}
	if err != nil {
		return record{}, fmt.Errorf("struct %s: %w", name, err)
	}
	if a, err := strconv.Atoi(n.aligned()); err == nil {
		align = max(align, a)
	}
	rec := record{name: name, fields: fields, size: roundUp(end(fields), align), align: align}
	r.done[name] = rec
	return rec, nil
}

// fields lays out members or parameters one behind the other, and returns the
// greatest alignment too.
func (r *resolver) fields(nodes []node) ([]field, int, error) {
	var fields []field
	align := 1
	for i, n := range nodes {
		if n.Name == "" || n.IsBitfield {
			return nil, 0, fmt.Errorf("member %d has no name, or is a bit field", i+1)
		}
		s, err := r.resolve(n.Type.Spelled, n.Type.Desugared)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", n.Name, err)
		}
		if a, err := strconv.Atoi(n.aligned()); err == nil {
			s.align = max(s.align, a)
		}
		align = max(align, s.align)
		fields = append(fields, field{n.Name, roundUp(end(fields), s.align), s})
	}
	return fields, align, nil
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
