package parquetio

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// leaf is a column of a file: a leaf of its schema tree.
type leaf struct {
	name    string   // dotted path `a.b`; a top-level column is just its name
	path    []string // the names it is made of
	ids     []int32  // the field ids of these; nil: not all have one
	typ     column.Type
	form    column.Form
	element column.Type // within a list or map: of its values
	index   int         // number of the column in every row group
	err     error       // why the column cannot be read; matters only when it is asked for
	maxDef  int         // definition level of a value that is there; 0: no NULLs
	maxRep  int         // above 0: within a list or map

	physical format.Type
	length   int // bytes of a FIXED_LEN_BYTE_ARRAY
}

// schemaNode is a group on the way from the root to the element at hand.
type schemaNode struct {
	path           []string
	ids            []int32 // of the names of path; nil: not all have one
	bytes          int     // length of the path
	left           int     // children not yet met
	maxDef, maxRep int
	nested         string // "list" or "map", where the group or one above it is
}

// schemaLeaves walks the schema, a tree flattened depth first, and returns
// its leaves in order. footer is the size of what it was decoded from, which
// bounds the memory for names: a path repeats the names of its groups.
func schemaLeaves(schema []format.SchemaElement, maxDepth, footer int) ([]leaf, error) {
	if len(schema) == 0 || schema[0].NumChildren.V < 0 {
		return nil, errors.New("damaged: no schema")
	}
	leaves := []leaf{}
	names, maxNames := 0, 1<<20+16*footer
	stack := []schemaNode{{left: int(schema[0].NumChildren.V)}}
	for i := 1; ; i++ {
		for len(stack) > 0 && stack[len(stack)-1].left == 0 {
			stack = stack[:len(stack)-1]
		}
		if len(stack) == 0 {
			if i != len(schema) {
				return nil, fmt.Errorf("damaged schema: %d elements too many", len(schema)-i)
			}
			break
		}
		if i >= len(schema) {
			return nil, errors.New("damaged schema: elements missing")
		}
		e, parent := &schema[i], &stack[len(stack)-1]
		parent.left--
		if parent.bytes+len(e.Name) > maxNames-names {
			return nil, errors.New("damaged schema: names too long")
		}
		names += parent.bytes + len(e.Name)
		node, err := parent.child(e)
		if err != nil {
			return nil, err
		}
		if isGroup(e) {
			if len(stack) > maxDepth {
				return nil, fmt.Errorf("columns nested more than %d levels deep; not supported", maxDepth)
			}
			stack = append(stack, node)
			continue
		}
		leaves = append(leaves, node.leaf(e, len(leaves)))
	}
	if len(leaves) == 0 {
		return nil, errors.New("the file has no columns")
	}
	return leaves, nil
}

// sizeOfLeaves is the memory that leaves take, with their names.
func sizeOfLeaves(leaves []leaf) int64 {
	size := int64(cap(leaves)) * int64(unsafe.Sizeof(leaf{}))
	for i := range leaves {
		l := &leaves[i]
		size += int64(len(l.path))*int64(unsafe.Sizeof(l.name)) + int64(len(l.name)) + int64(len(l.ids))*4
	}
	return size
}

func isGroup(e *format.SchemaElement) bool {
	return !e.Type.Valid || e.NumChildren.V > 0
}

// child is the node for e below n.
func (n *schemaNode) child(e *format.SchemaElement) (schemaNode, error) {
	if e.NumChildren.V < 0 {
		return schemaNode{}, fmt.Errorf("damaged schema: %q has %d children", e.Name, e.NumChildren.V)
	}
	c := schemaNode{
		path:   append(n.path[:len(n.path):len(n.path)], e.Name),
		bytes:  n.bytes + len(e.Name) + 1,
		left:   int(e.NumChildren.V),
		maxDef: n.maxDef, maxRep: n.maxRep,
		nested: n.nested,
	}
	if e.FieldID != 0 && len(n.ids) == len(n.path) {
		c.ids = append(n.ids[:len(n.ids):len(n.ids)], e.FieldID)
	}
	switch e.RepetitionType.V {
	case format.Required:
	case format.Optional:
		c.maxDef++
	case format.Repeated:
		c.maxDef++
		c.maxRep++
		if c.nested == "" {
			c.nested = "list"
		}
	default:
		return schemaNode{}, fmt.Errorf("damaged schema: %q has repetition %d", e.Name, e.RepetitionType.V)
	}
	if isMap(e) && n.nested == "" {
		c.nested = "map"
	}
	return c, nil
}

func isMap(e *format.SchemaElement) bool {
	if _, ok := e.LogicalType.Value.(*format.MapType); ok {
		return true
	}
	c := e.ConvertedType
	return c.Valid && (c.V == deprecated.Map || c.V == deprecated.MapKeyValue)
}

// leaf makes the column whose last path element is e.
func (n *schemaNode) leaf(e *format.SchemaElement, index int) leaf {
	l := leaf{
		name: strings.Join(n.path, "."), path: n.path, ids: n.ids, index: index,
		maxDef: n.maxDef, maxRep: n.maxRep,
		physical: e.Type.V,
	}
	if l.physical == format.FixedLenByteArray {
		l.length = int(e.TypeLength.V)
		if l.length <= 0 || l.length > math.MaxInt32/2 {
			l.err = fmt.Errorf("damaged: values of %d bytes", e.TypeLength.V)
			return l
		}
	}
	if l.maxRep > 0 {
		l.element, _ = leafType(e, l.length) // Invalid if it is of none
		l.err = fmt.Errorf("column %s is a %s; grouping or aggregating it is not supported", l.name, n.nested)
		return l
	}
	l.typ, l.err = leafType(e, l.length)
	l.form = leafForm(e, l.typ)
	return l
}
