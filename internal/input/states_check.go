package input

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/state"
)

// This file compares states with their checksums. Each of the three signs of a table of states (its
// header, the header's checksum, the column with those of rows) is enough to know that it was one:
// where damage takes one away, the others tell.

// isState reports whether a schema has a sign of states.
func isState(schema *arrow.Schema) bool {
	if schema == nil {
		return false
	}
	meta := schema.Metadata()
	return meta.FindKey(StateKey) >= 0 || meta.FindKey(StateCheckKey) >= 0 || checkColumn(schema) >= 0
}

// checkColumn is the place of the column with checksums; -1: there is none.
func checkColumn(schema *arrow.Schema) int {
	return slices.IndexFunc(schema.Fields(), func(f arrow.Field) bool { return f.Name == state.CheckColumn })
}

// stateHeader is the header of states, and whether they have checksums: those of older versions
// have none.
func stateHeader(schema *arrow.Schema) (header string, checked bool, err error) {
	meta, check := schema.Metadata(), checkColumn(schema)
	text, sum := meta.FindKey(StateKey), meta.FindKey(StateCheckKey)
	switch {
	case text < 0:
		return "", false, errors.New("damaged: the states have lost their header")
	case (sum >= 0) != (check >= 0):
		return "", false, errors.New("damaged: the states have lost a part of their checksums")
	}
	header = meta.Values()[text]
	switch {
	case sum < 0:
		return header, false, nil
	case meta.Values()[sum] != state.HeaderCheck(header):
		return "", false, errors.New("damaged: what the states say of themselves does not have its checksum")
	case schema.Field(check).Type.ID() != arrow.UINT32:
		return "", false, fmt.Errorf("damaged: the checksums are %s", schema.Field(check).Type)
	}
	return header, true, nil
}

// StatesOf is the query whose states an input holds, for messages; "": it holds none.
func StatesOf(in Input) string {
	switch in := in.(type) {
	case *remoteInput:
		return StatesOf(in.Input)
	case *arrowInput:
		return statesOfSchema(in.files[0].Schema)
	case *recordInput:
		return statesOfSchema(in.schema)
	}
	return ""
}

func statesOfSchema(schema *arrow.Schema) string {
	if !isState(schema) {
		return ""
	}
	header, _, err := stateHeader(schema)
	if err != nil {
		return "a query that cannot be read"
	}
	return state.About(header)
}

// checkedInput is states with checksums: whoever reads them reads all columns, which are compared.
type checkedInput struct {
	Input
	name string
}

// Scan reads the columns that are asked for, and all others.
func (in *checkedInput) Scan(o parquetio.ScanOptions) (Scan, error) {
	s := &checkedScan{name: in.name, wanted: len(o.Columns)}
	o.Columns = slices.Clone(o.Columns)
	for c, f := range in.Schema().Fields {
		at := slices.Index(o.Columns, c)
		if at < 0 {
			at = len(o.Columns)
			o.Columns = append(o.Columns, c)
		}
		if f.Name == state.CheckColumn {
			s.check = at
		} else {
			s.cols = append(s.cols, at)
		}
	}
	var err error
	s.Scan, err = in.Input.Scan(o)
	return s, err
}

type checkedScan struct {
	Scan
	name   string
	wanted int   // how many of its columns who reads it knows
	cols   []int // all but the checksums, in the order of the table
	check  int
}

func (s *checkedScan) Reader() cpu.Reader { return &checkedReader{Reader: s.Scan.Reader(), scan: s} }

type checkedReader struct {
	cpu.Reader
	scan    *checkedScan
	batch   column.Batch
	checker state.Checker
	cols    []*column.Vector
	sums    []int64
}

var errRow = errors.New("damaged: a row of states does not have its checksum")

// Next reads a batch whose rows have their checksums.
func (r *checkedReader) Next(b *column.Batch) (bool, error) {
	ok, err := r.Reader.Next(&r.batch)
	if err != nil || !ok {
		return ok, err
	}
	r.cols = r.cols[:0]
	for _, c := range r.scan.cols {
		r.cols = append(r.cols, &r.batch.Cols[c])
	}
	r.sums = r.checker.Append(r.sums[:0], r.cols, r.batch.Rows)
	has := &r.batch.Cols[r.scan.check]
	for i, sum := range r.sums {
		if has.IsNull(i) || has.Int[i] != sum {
			return false, &Error{fmt.Errorf("%s: %w", r.scan.name, errRow)}
		}
	}
	cols := b.Cols
	*b = r.batch
	b.Cols = append(cols[:0], r.batch.Cols[:r.scan.wanted]...)
	return true, nil
}
