package extsort

import (
	"encoding/binary"

	"github.com/gagg-dev/gagg/internal/column"
)

// input is the batch that is being added.
type input struct {
	terms []Term
	lay   layout

	order, cols []column.Vector // flat
	bufs        []column.Buffer
	keys        []int // bytes of the key of each row
	sizes       []int // bytes of each row

	rows []row
	vals [][]byte
	ends []int
}

func newInput(c Config) input {
	n := len(c.Terms) + len(c.Cols)
	return input{terms: c.Terms, lay: newLayout(c.Cols), bufs: make([]column.Buffer, n)}
}

// set begins a batch. The vectors are used until the next one.
func (in *input) set(order, cols []column.Vector, rows int) error {
	in.order, in.cols = in.order[:0], in.cols[:0]
	for i := range order {
		in.order = append(in.order, column.Flatten(&order[i], &in.bufs[i]))
	}
	for i := range cols {
		in.cols = append(in.cols, column.Flatten(&cols[i], &in.bufs[len(order)+i]))
	}
	in.keys, in.sizes = in.keys[:0], in.sizes[:0]
	for range rows {
		in.keys = append(in.keys, placeSize)
	}
	for i, t := range in.terms {
		t.addSizes(&in.order[i], in.keys)
	}
	for _, k := range in.keys {
		in.sizes = append(in.sizes, rowHeader+k)
	}
	in.lay.addSizes(in.cols, in.sizes)
	for i, n := range in.sizes {
		if uint64(n) > maxRow || in.keys[i] > maxKey {
			return &RowError{int64(n)}
		}
	}
	return nil
}

// write writes the rows of the batch from first on into rows, which have
// their sizes.
func (in *input) write(rows []row, first int, place uint64) {
	in.ends, in.vals = in.ends[:0], in.vals[:0]
	for i, r := range rows {
		key := in.keys[first+i]
		r.setHeader(len(r), key)
		in.ends = append(in.ends, rowHeader)
		in.vals = append(in.vals, r[rowHeader+key:])
	}
	for i, t := range in.terms {
		t.put(&in.order[i], first, rows, in.ends)
	}
	for i, r := range rows {
		binary.BigEndian.PutUint64(r[in.ends[i]:], place+uint64(i))
	}
	in.lay.put(in.cols, first, in.vals, in.ends)
}
