package extsort

import (
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/sortkey"
)

// marks are the bytes before a NULL and before a value.
func (t Term) marks() (null, value byte) {
	if t.NullsFirst {
		return 0, 1
	}
	return 1, 0
}

// addSizes adds the bytes that the key has of each row of v, a flat vector.
func (t Term) addSizes(v *column.Vector, sizes []int) {
	size := sortkey.SizerOf(v)
	for i := range sizes {
		sizes[i]++
		if !sortkey.IsNull(v, i) {
			sizes[i] += size(i)
		}
	}
}

// put writes the key of the rows of v from first on into rows, each from its
// end on, and moves the ends.
func (t Term) put(v *column.Vector, first int, rows []row, ends []int) {
	null, value := t.marks()
	write := sortkey.WriterOf(v)
	for i, r := range rows {
		at := ends[i]
		if sortkey.IsNull(v, first+i) {
			r[at] = null
			ends[i]++
			continue
		}
		r[at] = value
		n := write(r[at+1:], first+i)
		if t.Desc {
			sortkey.Invert(r[at+1 : at+1+n])
		}
		ends[i] += 1 + n
	}
}
