package column

// Nest tells whether a type is a scalar or holds several values of one.
type Nest uint8

const (
	Scalar Nest = iota
	List        // any number of values, in order
	Map         // distinct values, each with a count (int64)
)

// ListOf returns the type of lists of t, which is a scalar.
func ListOf(t Type) Type {
	t.Nest = List
	return t
}

// MapOf returns the type of maps from values of t, which is a scalar, to
// counts.
func MapOf(t Type) Type {
	t.Nest = Map
	return t
}

// Elem is the type of the values in a list, or of the keys of a map. A
// scalar is its own.
func (t Type) Elem() Type {
	t.Nest = Scalar
	return t
}

// IsNested reports whether t is a list or a map.
func (t Type) IsNested() bool { return t.Nest != Scalar }
