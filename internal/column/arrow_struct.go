package column

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// A Leaf is a column of a record that is no struct: a column of its own, or a
// field of a struct.
type Leaf struct {
	Field
	Path []string // the names on the way to it, its own last
	At   []int    // the column's number, then those of the fields
	Err  error    // why it cannot be read as values
}

// maxStructs is how deep structs are looked into; real ones have a few levels.
const maxStructs = 64

// Leaves returns the leaves of a record's columns, in order. A leaf that is a
// list or map, or of a type that is not known, has an error, and so has a
// struct without fields or too deep to look into.
func Leaves(schema *arrow.Schema) (leaves []Leaf) {
	for i, f := range schema.Fields() {
		leaves = appendLeaves(leaves, Leaf{}, i, f)
	}
	return leaves
}

func appendLeaves(leaves []Leaf, above Leaf, i int, f arrow.Field) []Leaf {
	l := Leaf{Path: append(above.Path[:len(above.Path):len(above.Path)], f.Name), At: append(above.At[:len(above.At):len(above.At)], i)}
	if s, ok := f.Type.(*arrow.StructType); ok && s.NumFields() > 0 && len(l.Path) < maxStructs {
		for k, sub := range s.Fields() {
			leaves = appendLeaves(leaves, l, k, sub)
		}
		return leaves
	}
	l.Name = l.Path[0]
	for _, name := range l.Path[1:] {
		l.Name += "." + name
	}
	l.Type, l.Err = FromArrowField(f)
	if l.Err == nil && l.Type.IsNested() {
		l.Type, l.Err = Type{}, fmt.Errorf("%w as input: %s", ErrNoArrowType, f.Type.Name())
	}
	return append(leaves, l)
}

// FromRecord is FromArrow for a leaf of a record. It is NULL where a struct
// around it is.
func (l *Leaf) FromRecord(rec arrow.Record, v *Vector) error {
	arr, above := l.walk(rec)
	if err := fromArrow(arr, v, copyData, above); err != nil {
		return err
	}
	v.Type = l.Type.Plain() // which the field may know better
	if l.Type.Kind == Decimal {
		return checkDigits(v)
	}
	return nil
}

// Array is the array of a leaf in a record. Its values are undefined where a struct around it is
// NULL.
func (l *Leaf) Array(rec arrow.Record) arrow.Array {
	arr, _ := l.walk(rec)
	return arr
}

// walk returns the array of a leaf and the structs around it.
func (l *Leaf) walk(rec arrow.Record) (arr arrow.Array, above []*array.Struct) {
	arr = rec.Column(l.At[0])
	for _, k := range l.At[1:] {
		s := arr.(*array.Struct)
		above = append(above, s)
		arr = s.Field(k)
	}
	return arr, above
}

// nullAbove sets the rows to NULL in which a struct is.
func nullAbove(null []bool, n int, above []*array.Struct) []bool {
	for _, s := range above {
		if s.NullN() == 0 {
			continue
		}
		if null == nil {
			null = make([]bool, n)
		}
		for i := range null {
			null[i] = null[i] || s.IsNull(i)
		}
	}
	return null
}
