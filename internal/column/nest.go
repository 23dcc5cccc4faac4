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

// Range is the range of rows of Elem, and of Counts, that row i of a flat
// vector of lists or maps holds; none for NULL.
func (v *Vector) Range(i int) (from, to int) {
	if v.IsNull(i) {
		return 0, 0
	}
	s := v.Span[i]
	return int(s.Off), int(s.Off) + int(s.Len)
}

func (v *Vector) validLists() bool {
	e := v.Elem
	if e == nil {
		e = &Vector{Type: v.Type.Elem()} // where no list has an element
	}
	if e.Type != v.Type.Elem() || e.Dict != nil || e.Null != nil || !e.Valid() {
		return false
	}
	if v.Type.Nest == Map && len(v.Counts) < e.Len {
		return false
	}
	for _, s := range v.Span[:min(v.Len, len(v.Span))] {
		if uint64(s.Off)+uint64(s.Len) > uint64(e.Len) {
			return false
		}
	}
	return len(v.Span) >= v.Len
}

// appendLists appends the lists or maps of p, end to end.
func (v *Vector) appendLists(p *Vector) {
	if v.Elem == nil {
		v.Elem = &Vector{Type: v.Type.Elem()}
	}
	for i := range p.Len {
		from, to := p.Range(i)
		v.Span = append(v.Span, Span{Off: uint32(v.Elem.Len), Len: uint32(to - from)})
		if from == to {
			continue
		}
		v.Elem.appendValues(p.Elem, from, to)
		v.Elem.Len += to - from
		if v.Type.Nest == Map {
			v.Counts = append(v.Counts, p.Counts[from:to]...)
		}
	}
}
