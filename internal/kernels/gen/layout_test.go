package main

import (
	"strings"
	"testing"
)

// member is a declaration as clang reports it.
func member(name, spelled, desugared string) node {
	n := node{Kind: "FieldDecl", Name: name}
	n.Type.Spelled, n.Type.Desugared = spelled, desugared
	return n
}

func newResolver() *resolver {
	inner := node{Name: "Inner", Inner: []node{member("a", "uint8_t", "unsigned char"), member("b", "uint16_t[3]", "")}}
	node16 := node{Name: "Wide", Inner: []node{member("x", "uint64_t", "unsigned long"), {Kind: "AlignedAttr", Inner: []node{{Value: "16"}}}}}
	list := node{Name: "List", Inner: []node{member("next", "List *", ""), member("n", "uint32_t", "unsigned int")}}
	odd := node{Name: "Odd", Inner: []node{member("f", "Callback<int>", "Callback<int>")}}
	structs := map[string]node{"Inner": inner, "Wide": node16, "List": list, "Odd": odd}
	return &resolver{structs: structs, begun: map[string]bool{}, done: map[string]record{}}
}

func TestFields(t *testing.T) {
	r := newResolver()
	fields, align, err := r.fields([]node{
		member("n", "const uint32_t", "const unsigned int"),
		member("pointers", "char *[2]", ""),
		member("truth", "bool", ""),
		member("in", "Inner", "Inner"),
		member("wide", "Wide", "Wide"),
		member("odd", "const Odd *__restrict", ""),
		member("last", "Index", "unsigned short"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		offset, size int
		goType       string
		record       string
	}{
		{0, 4, "uint32", ""},
		{8, 16, "cuda.Ptr", ""},
		{24, 1, "bool", ""},
		{26, 8, "", "Inner"},
		{48, 16, "", "Wide"},
		{64, 8, "cuda.Ptr", ""},
		{72, 2, "uint16", ""},
	}
	for i, f := range fields {
		if f.offset != want[i].offset || f.shape.size != want[i].size || f.shape.goType != want[i].goType || f.shape.record != want[i].record {
			t.Errorf("%s: got %+v, want %+v", f.name, f, want[i])
		}
	}
	if align != 16 || end(fields) != 74 {
		t.Errorf("alignment %d and end %d, want 16 and 74", align, end(fields))
	}
	if _, ok := r.done["Odd"]; ok {
		t.Error("a struct that Go cannot share was kept because of a pointer to it")
	}
}

// A struct that points to its like is laid out once.
func TestRecordOfItself(t *testing.T) {
	rec, err := newResolver().record("List")
	if err != nil || rec.size != 16 || rec.align != 8 {
		t.Errorf("got %+v, %v", rec, err)
	}
}

func TestUnshareable(t *testing.T) {
	bits := member("flags", "uint32_t", "unsigned int")
	bits.IsBitfield = true
	for name, test := range map[string]struct {
		member node
		want   string
	}{
		"unknown":     {member("x", "__int128", ""), "cannot be shared"},
		"bit field":   {bits, "bit field"},
		"unnamed":     {member("", "uint32_t", "unsigned int"), "no name"},
		"struct":      {member("o", "Odd", "Odd"), "cannot be shared"},
		"two by two":  {member("m", "uint32_t[2][2]", ""), "array of arrays"},
		"of a struct": {member("m", "Odd[2]", ""), "cannot be shared"},
	} {
		if _, _, err := newResolver().fields([]node{test.member}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct{ c, up, low string }{
		{"get_corw", "GetCorw", "getCorw"},
		{"n", "N", "n"},
		{"slab_1", "Slab1", "slab1"},
		{"type", "Type", "typeArg"},
		{"grid", "Grid", "gridArg"},
	} {
		if up, low := camel(test.c), paramName(test.c); up != test.up || low != test.low {
			t.Errorf("%s: got %s and %s, want %s and %s", test.c, up, low, test.up, test.low)
		}
	}
}
