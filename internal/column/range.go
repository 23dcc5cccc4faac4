package column

// Range is a range of integers: from 0 to Most, or from -Most-1 to Most if Signed. The zero value
// means unknown.
type Range struct {
	Most   uint64
	Signed bool
}

// Known reports whether the range says anything.
func (r Range) Known() bool { return r.Most > 0 }

// RangeOf is the range from least to most.
func RangeOf(least, most int64) Range {
	r := Range{Most: uint64(max(most, 1))} // 0 would say nothing
	if least < 0 {
		r.Signed, r.Most = true, max(r.Most, uint64(^least))
	}
	return r
}
