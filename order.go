package gagg

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/column"
)

// part is a result batch to be sorted: its output columns, then its order
// columns, flat copies.
type part struct {
	cols []column.Vector
	rows int
}

// part copies what a result batch gives to the sorted result.
func (p *producer) part(b *column.Batch) (part, error) {
	out := part{rows: b.Rows}
	for _, e := range slices.Concat(p.out, p.order) {
		var v column.Vector
		if err := e.Eval(b, &v); err != nil {
			return out, err
		}
		out.cols = append(out.cols, column.Concat([]column.Vector{v}))
	}
	return out, nil
}

// sorter sorts the parts of a result. Equal rows stay in the order in which
// they came, which is that of their keys' hash.
type sorter struct {
	run   *run
	keep  int64 // rows wanted; -1: all
	parts []part
	rows  int
}

// pruneRows is how many rows more than wanted are collected before the rest
// is thrown away: enough that sorting them is rare.
const pruneRows = 64 << 10

func (s *sorter) add(parts []part) error {
	for _, p := range parts {
		s.parts = append(s.parts, p)
		s.rows += p.rows
	}
	if s.keep >= 0 && int64(s.rows) > 2*s.keep+pruneRows {
		cols, order, err := s.sort()
		if err != nil {
			return err
		}
		order = order[:min(int64(len(order)), s.keep)]
		kept := part{rows: len(order)}
		for i := range cols {
			v := column.Gather(&cols[i], order, &column.Buffer{})
			kept.cols = append(kept.cols, column.Concat([]column.Vector{v}))
		}
		s.parts, s.rows = []part{kept}, kept.rows
	}
	return nil
}

// sort returns all columns in one piece and the order of their rows.
func (s *sorter) sort() (cols []column.Vector, order []int32, err error) {
	if s.rows > math.MaxInt32 || !s.fits() {
		return nil, nil, &kindError{ErrBudget, fmt.Errorf("order by: the result is too large to be sorted in memory (%d rows); give a limit", s.rows)}
	}
	terms, nout := s.run.query.order, len(s.run.query.out)
	cols = make([]column.Vector, nout+len(terms))
	for i := range cols {
		pieces := make([]column.Vector, len(s.parts))
		for j := range s.parts {
			pieces[j] = s.parts[j].cols[i]
		}
		cols[i] = column.Concat(pieces)
	}
	order = make([]int32, s.rows)
	for i := range order {
		order[i] = int32(i)
	}
	compare := make([]func(a, b int32) int, len(terms))
	for i, t := range terms {
		compare[i] = comparison(&cols[nout+i], t)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		for _, c := range compare {
			if d := c(a, b); d != 0 {
				return d
			}
		}
		return 0
	})
	return cols, order, nil
}

// records are the sorted rows.
func (s *sorter) records(schema *arrow.Schema) ([]arrow.Record, error) {
	if s.rows == 0 {
		return nil, nil
	}
	cols, order, err := s.sort()
	if err != nil {
		return nil, err
	}
	if s.keep >= 0 {
		order = order[:min(int64(len(order)), s.keep)]
	}
	var out []arrow.Record
	for len(order) > 0 {
		n := min(len(order), resultRows)
		rec, err := s.record(schema, cols, order[:n])
		for n > 1 && errors.Is(err, column.ErrTooLarge) { // long values
			n /= 2
			rec, err = s.record(schema, cols, order[:n])
		}
		if err != nil {
			return out, err
		}
		out = append(out, rec)
		order = order[n:]
	}
	return out, nil
}

// fits reports whether each column, in one piece, stays within the offsets of
// a vector: 32 bits for the bytes of strings, and 31 for the elements of
// lists, whose rows are compared by number.
func (s *sorter) fits() bool {
	for i := range s.parts[0].cols {
		bytes, elems := 0, 0
		for _, p := range s.parts {
			v := &p.cols[i]
			bytes += len(v.Data)
			if v.Elem != nil {
				bytes += len(v.Elem.Data)
				elems += v.Elem.Len
			}
		}
		if bytes > math.MaxUint32 || elems > math.MaxInt32 {
			return false
		}
	}
	return true
}

func (s *sorter) record(schema *arrow.Schema, cols []column.Vector, rows []int32) (arrow.Record, error) {
	arrays := make([]arrow.Array, 0, len(s.run.query.out))
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	for i := range s.run.query.out {
		v := column.Gather(&cols[i], rows, &column.Buffer{})
		arr, err := column.ToArrow(&v, s.run.opt.allocator())
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", schema.Field(i).Name, err)
		}
		arrays = append(arrays, arr)
	}
	return array.NewRecord(schema, arrays, int64(len(rows))), nil
}

// comparison orders two rows of a flat vector by a term: NaN is greater than
// any number, NULL is last unless the term says first.
func comparison(v *column.Vector, t orderTerm) func(a, b int32) int {
	values := valueComparison(v)
	nullSign := 1
	if t.nullFirst {
		nullSign = -1
	}
	return func(a, b int32) int {
		switch na, nb := v.IsNull(int(a)), v.IsNull(int(b)); {
		case na && nb:
			return 0
		case na:
			return nullSign
		case nb:
			return -nullSign
		case t.desc:
			return values(b, a)
		}
		return values(a, b)
	}
}

func valueComparison(v *column.Vector) func(a, b int32) int {
	switch v.Type.Rep() {
	case column.RepFloat64:
		return func(a, b int32) int { return compareFloats(v.Float[a], v.Float[b]) }
	case column.RepWide:
		return func(a, b int32) int { return v.Wide[a].Cmp(v.Wide[b]) }
	case column.RepBytes:
		return func(a, b int32) int { return bytes.Compare(v.Bytes(int(a)), v.Bytes(int(b))) }
	case column.RepList:
		return listComparison(v)
	}
	if v.Type.Kind == column.Uint64 {
		return func(a, b int32) int { return cmp.Compare(uint64(v.Int[a]), uint64(v.Int[b])) }
	}
	return func(a, b int32) int { return cmp.Compare(v.Int[a], v.Int[b]) }
}

// listComparison orders lists by the first element in which they differ, maps
// by the first key or count; a list that the other begins with comes first.
func listComparison(v *column.Vector) func(a, b int32) int {
	if v.Elem == nil {
		return func(a, b int32) int { return 0 }
	}
	elems, counted := valueComparison(v.Elem), v.Type.Nest == column.Map
	return func(a, b int32) int {
		i, iEnd := v.Range(int(a))
		j, jEnd := v.Range(int(b))
		for ; i < iEnd && j < jEnd; i, j = i+1, j+1 {
			d := elems(int32(i), int32(j))
			if d == 0 && counted {
				d = cmp.Compare(v.Counts[i], v.Counts[j])
			}
			if d != 0 {
				return d
			}
		}
		return cmp.Compare(iEnd-i, jEnd-j)
	}
}

func compareFloats(a, b float64) int {
	switch na, nb := math.IsNaN(a), math.IsNaN(b); {
	case na && nb:
		return 0
	case na:
		return 1
	case nb:
		return -1
	}
	return cmp.Compare(a, b)
}
