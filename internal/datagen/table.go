package datagen

import (
	"math/rand/v2"

	"github.com/gagg-dev/gagg/internal/column"
)

// Column says what a random column holds.
type Column struct {
	Name string
	Type column.Type
	// values to draw from; they differ where the type has so many; 0: one for each row
	Distinct int
	Nulls    float64 // share of rows that are NULL, 0..1
	// 0: every value is as likely; else Zipf with this exponent (any positive number)
	Skew float64
	// the odd values of the type come first among the values: extremes, NaN, -0, empty and long
	// strings
	Special bool
	Coded   bool // batches are dictionary-coded, and a Parquet file gets a dictionary
}

// Spec is what a random table holds. The same Spec gives the same rows.
type Spec struct {
	Rows    int
	Seed    uint64
	Columns []Column
}

// Table is a table of random columns in memory.
type Table struct {
	Spec
	drawn []drawnColumn
}

// drawnColumn is a column as places in a pool of values.
type drawnColumn struct {
	pool  *column.Dict
	place []int32 // a row's place in the pool; NULL rows have one too
	null  []bool  // nil: no NULLs were asked for
}

// New draws the table that spec describes.
func New(spec Spec) *Table {
	t := &Table{Spec: spec}
	for i, c := range spec.Columns {
		rng := rand.New(rand.NewPCG(spec.Seed, uint64(i)))
		t.drawn = append(t.drawn, draw(rng, c, spec.Rows))
	}
	return t
}

func draw(rng *rand.Rand, c Column, rows int) drawnColumn {
	d := drawnColumn{place: make([]int32, rows)}
	distinct := c.Distinct
	if distinct == 0 {
		distinct = max(rows, 1)
	}
	d.pool = &column.Dict{Values: newPool(rng, c.Type, distinct, c.Special)}
	if c.Distinct == 0 {
		for r := range d.place {
			d.place[r] = int32(r)
		}
	} else {
		next := newSkew(rng, distinct, c.Skew)
		for r := range d.place {
			d.place[r] = int32(next())
		}
	}
	if c.Nulls > 0 {
		d.null = make([]bool, rows)
		for r := range d.null {
			d.null[r] = rng.Float64() < c.Nulls
		}
	}
	return d
}

// Schema is the columns' names and types.
func (t *Table) Schema() column.Schema {
	var s column.Schema
	for _, c := range t.Columns {
		s.Fields = append(s.Fields, column.Field{Name: c.Name, Type: c.Type})
	}
	return s
}

// Batches cuts the table into batches of up to size rows. A table without
// rows has no batches. They stay valid for good; a column's batches share
// one Dict.
func (t *Table) Batches(size int) []column.Batch {
	var out []column.Batch
	for first := 0; first < t.Rows; first += size {
		end := min(first+size, t.Rows)
		b := column.Batch{Rows: end - first, First: int64(first)}
		for i, c := range t.Columns {
			b.Cols = append(b.Cols, t.drawn[i].vector(c.Coded, first, end))
		}
		out = append(out, b)
	}
	return out
}

func (d *drawnColumn) vector(coded bool, first, end int) column.Vector {
	v := column.Vector{Type: d.pool.Values.Type, Len: end - first, Codes: d.place[first:end], Dict: d.pool}
	if d.null != nil {
		v.Null = d.null[first:end]
	}
	if coded {
		return v
	}
	return column.Flatten(&v, &column.Buffer{})
}

// At is the value of a row, for expectations.
func (t *Table) At(col, row int) column.Value {
	d := &t.drawn[col]
	if d.null != nil && d.null[row] {
		return column.Value{Type: t.Columns[col].Type, Null: true}
	}
	return d.pool.Values.At(int(d.place[row]))
}
