package gagg

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/exec"
	"github.com/gagg-dev/gagg/internal/query"
)

// What a pivot may have: more is for programs, which do better with rows. It is made in memory,
// beside the memory limit.
const (
	mostPivoted = 1000 // columns of each aggregate
	// values that are put into them, NULL where there is no group among them
	mostPivotCells = 10 << 20
)

// pivoting makes a pivot of the rows of a result, whose columns are its keys, its aggregates and
// the text of one key.
type pivoting struct {
	query.Pivot
	schema *arrow.Schema
	aggs   int
	recs   []arrow.Record // all rows

	columns map[string]*pivotColumn // by the value of the key
	rows    map[string]*pivotRow    // by the other keys
	order   []*pivotRow
	cells   int
}

// place is a row of the result.
type place struct {
	rec arrow.Record
	row int
}

// pivotColumn is a value of the key, where it came first.
type pivotColumn struct {
	name string
	at   place
}

// pivotRow is a row of the pivot.
type pivotRow struct {
	first  place
	groups map[*pivotColumn]place
}

// pivot has the rows be those of the pivot.
func (r *Rows) pivot(q Query) error {
	p := &pivoting{Pivot: r.rows.Pivot(), schema: r.rows.Schema(), columns: map[string]*pivotColumn{}, rows: map[string]*pivotRow{}}
	p.aggs = p.schema.NumFields() - p.Keys - 1
	defer func() {
		for _, rec := range p.recs {
			rec.Release()
		}
	}()
	for r.rows.Next() {
		rec := r.rows.Record()
		rec.Retain()
		p.recs = append(p.recs, rec)
		if err := p.add(rec); err != nil {
			return err
		}
	}
	if err := r.rows.Err(); err != nil {
		return err
	}
	record, err := p.record(cutRows(p.order, q.Limit, q.Offset))
	if err == nil {
		r.shape(record)
	}
	return err
}

// cutRows is what limit and offset leave of rows.
func cutRows(rows []*pivotRow, limit, offset int64) []*pivotRow {
	rows = rows[min(offset, int64(len(rows))):]
	switch {
	case limit == NoRows:
		return nil
	case limit > 0:
		return rows[:min(limit, int64(len(rows)))]
	}
	return rows
}

// add places the groups of a record.
func (p *pivoting) add(rec arrow.Record) error {
	text := rec.Column(int(rec.NumCols()) - 1)
	for i := range int(rec.NumRows()) {
		at := place{rec, i}
		value := cellKey(nil, rec.Column(p.Key), i)
		column := p.columns[string(value)]
		if column == nil {
			if len(p.columns) == mostPivoted {
				return exec.Usagef("pivot: %s has more than %d values: leave some out with a filter, or pivot by another key", p.schema.Field(p.Key).Name, mostPivoted)
			}
			column = &pivotColumn{"NULL", at}
			if !text.IsNull(i) {
				column.name = strings.Clone(text.(*array.String).Value(i))
			}
			p.columns[string(value)] = column
		}
		var others []byte
		for k := range p.Keys {
			if k != p.Key {
				others = cellKey(others, rec.Column(k), i)
			}
		}
		row := p.rows[string(others)]
		if row == nil {
			row = &pivotRow{at, map[*pivotColumn]place{}}
			p.rows[string(others)] = row
			p.order = append(p.order, row)
		}
		row.groups[column] = at
		if p.cells += p.aggs; p.cells > mostPivotCells {
			return exec.Usagef("pivot: there are more than %d values to put into columns: leave groups out with a filter, or write the groups themselves", mostPivotCells)
		}
	}
	return nil
}

// cellKey appends what tells a value from the others of its column.
func cellKey(to []byte, values arrow.Array, i int) []byte {
	if values.IsNull(i) {
		return append(to, '-', ',')
	}
	text := values.ValueStr(i)
	return fmt.Appendf(to, "%d,%s", len(text), text)
}

// record makes the record of rows.
func (p *pivoting) record(rows []*pivotRow) (arrow.Record, error) {
	if len(rows)*len(p.columns)*p.aggs > mostPivotCells {
		return nil, exec.Usagef("pivot: %d rows of %d columns for each of %d aggregates are more than %d values: leave groups out with a filter, or take a limit", len(rows), len(p.columns), p.aggs, mostPivotCells)
	}
	columns := make([]*pivotColumn, 0, len(p.columns))
	for _, c := range p.columns {
		columns = append(columns, c)
	}
	slices.SortFunc(columns, func(a, b *pivotColumn) int { return compareCells(p.Key, a.at, b.at) })
	var fields []arrow.Field
	var made []arrow.Array
	defer func() {
		for _, m := range made {
			m.Release()
		}
	}()
	add := func(f arrow.Field, from int, at func(r *pivotRow) (place, bool)) error {
		values, err := gather(f.Type, from, rows, at)
		if err == nil {
			fields, made = append(fields, f), append(made, values)
		}
		return err
	}
	for k := range p.Keys {
		if k == p.Key {
			continue
		}
		if err := add(p.schema.Field(k), k, func(r *pivotRow) (place, bool) { return r.first, true }); err != nil {
			return nil, err
		}
	}
	for _, c := range columns {
		for a := p.Keys; a < p.Keys+p.aggs; a++ {
			f := p.schema.Field(a)
			if f.Nullable = true; p.aggs == 1 {
				f.Name = c.name
			} else {
				f.Name = c.name + "_" + f.Name
			}
			if err := add(f, a, func(r *pivotRow) (place, bool) { at, ok := r.groups[c]; return at, ok }); err != nil {
				return nil, err
			}
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), made, int64(len(rows))), nil
}

// gather makes an array of values of a column, one for each row of the pivot; NULL where there is
// none.
func gather(t arrow.DataType, column int, rows []*pivotRow, at func(r *pivotRow) (place, bool)) (arrow.Array, error) {
	mem := memory.NewGoAllocator()
	null := array.MakeArrayOfNull(mem, t, 1)
	defer null.Release()
	parts := make([]arrow.Array, 0, len(rows))
	for _, r := range rows {
		if from, ok := at(r); ok {
			parts = append(parts, array.NewSlice(from.rec.Column(column), int64(from.row), int64(from.row)+1))
		} else {
			null.Retain()
			parts = append(parts, null)
		}
	}
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	if len(parts) == 0 {
		return array.MakeArrayOfNull(mem, t, 0), nil
	}
	return array.Concatenate(parts, mem)
}

// compareCells orders values of a column as --order-by does: NULL last, NaN behind all numbers.
func compareCells(column int, a, b place) int {
	x, y := a.rec.Column(column), b.rec.Column(column)
	if x.IsNull(a.row) || y.IsNull(b.row) {
		return cmp.Compare(asInt(x.IsNull(a.row)), asInt(y.IsNull(b.row)))
	}
	switch x := x.(type) {
	case *array.Decimal128:
		return x.Value(a.row).Cmp(y.(*array.Decimal128).Value(b.row))
	case *array.Decimal256:
		return x.Value(a.row).Cmp(y.(*array.Decimal256).Value(b.row))
	case *array.Binary:
		return bytes.Compare(x.Value(a.row), y.(*array.Binary).Value(b.row))
	case *array.FixedSizeBinary:
		return bytes.Compare(x.Value(a.row), y.(*array.FixedSizeBinary).Value(b.row))
	case *array.String:
		return strings.Compare(x.Value(a.row), y.(*array.String).Value(b.row))
	case *array.Boolean:
		return cmp.Compare(asInt(x.Value(a.row)), asInt(y.(*array.Boolean).Value(b.row)))
	}
	return compareNumbers(x, a.row, y, b.row)
}

func asInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// compareNumbers is compareCells for what a machine word holds.
func compareNumbers(x arrow.Array, i int, y arrow.Array, k int) int {
	switch x := x.(type) {
	case *array.Float32:
		return compareFloats(float64(x.Value(i)), float64(y.(*array.Float32).Value(k)))
	case *array.Float64:
		return compareFloats(x.Value(i), y.(*array.Float64).Value(k))
	case *array.Uint64:
		return cmp.Compare(x.Value(i), y.(*array.Uint64).Value(k))
	}
	return cmp.Compare(wordAt(x, i), wordAt(y, k))
}

func compareFloats(a, b float64) int {
	if a != a || b != b {
		return cmp.Compare(asInt(a != a), asInt(b != b))
	}
	return cmp.Compare(a, b)
}

// wordAt is a value that an int64 holds.
func wordAt(of arrow.Array, i int) int64 {
	switch of := of.(type) {
	case *array.Int8:
		return int64(of.Value(i))
	case *array.Int16:
		return int64(of.Value(i))
	case *array.Int32:
		return int64(of.Value(i))
	case *array.Int64:
		return of.Value(i)
	case *array.Uint8:
		return int64(of.Value(i))
	case *array.Uint16:
		return int64(of.Value(i))
	case *array.Uint32:
		return int64(of.Value(i))
	case *array.Date32:
		return int64(of.Value(i))
	case *array.Time32:
		return int64(of.Value(i))
	case *array.Time64:
		return int64(of.Value(i))
	case *array.Timestamp:
		return int64(of.Value(i))
	}
	return 0 // all NULL
}
