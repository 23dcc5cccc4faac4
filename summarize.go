package gagg

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/exec"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/query"
)

// Summarize profiles the columns of an input: it has a row for each column, made in one pass over
// the rows of From, Sample and Where. The other clauses of the query must be empty.
//
//	column           its name
//	type             its type; NULL if it cannot be read: then the rest is NULL too
//	count            values that are not NULL
//	null_percent     share of the rows where it is NULL, of 100
//	approx_distinct  different values: approx_count_distinct
//	min, max         as text
//	mean, stddev     of numbers
//	q25, q50, q75    as text; of numbers approx_quantile, of dates and times quantile_disc
//	most_frequent    as text: mode
func Summarize(ctx context.Context, q Query, o Options) (*Rows, error) {
	if err := q.onlyInput(); err != nil {
		return nil, err
	}
	var columns []input.Column
	r := request(q, o)
	r.Aggs = func(d input.Description) []query.Agg {
		columns = d.Columns
		return profileOf(columns)
	}
	of, err := exec.Run(ctx, r)
	if err != nil {
		return nil, err
	}
	rows := &Rows{rows: of}
	if err := rows.transpose(columns); err != nil {
		rows.Release()
		return nil, err
	}
	return rows, nil
}

// profileOf is count(*), and then the aggregates of each column.
func profileOf(columns []input.Column) []query.Agg {
	aggs := []query.Agg{{Text: "count(*)"}}
	for i, c := range columns {
		for _, p := range profile {
			aggs = append(aggs, query.Agg{Text: p.of(c, i)})
		}
	}
	return aggs
}

// onlyInput refuses clauses that a summary has no use for.
func (q *Query) onlyInput() error {
	switch {
	case q.From == nil:
		return exec.Usagef("no input: set From")
	case len(q.By)+len(q.Aggs)+len(q.OrderBy)+len(q.Sets) > 0 || q.Having != "" || q.Limit != 0 || q.Offset != 0 || q.Totals || q.Pivot != "":
		return exec.Usagef("a summary is one of all columns: it takes an input, a sample and a filter on rows alone")
	}
	return nil
}

// profiled is a column of a summary, made by an aggregate of the column that is summarized.
type profiled struct {
	name  string
	typ   arrow.DataType
	text  string            // $ stands for the column
	only  func(string) bool // the types that have it, those of times have times instead; nil: all
	times string
}

func ofNumbers(t string) bool {
	return t != "interval" && beginsWith(t, "int", "uint", "float", "double", "decimal")
}

func ofTimes(t string) bool { return beginsWith(t, "date", "time") }

func beginsWith(t string, any ...string) bool {
	return slices.ContainsFunc(any, func(s string) bool { return strings.HasPrefix(t, s) })
}

var profile = []profiled{
	{"count", arrow.PrimitiveTypes.Int64, "count($)", nil, ""},
	{"approx_distinct", arrow.PrimitiveTypes.Int64, "approx_count_distinct($)", nil, ""},
	{"min", arrow.BinaryTypes.String, "cast(min($) as varchar)", nil, ""},
	{"max", arrow.BinaryTypes.String, "cast(max($) as varchar)", nil, ""},
	{"mean", arrow.PrimitiveTypes.Float64, "avg($)", ofNumbers, ""},
	{"stddev", arrow.PrimitiveTypes.Float64, "stddev_samp($)", ofNumbers, ""},
	{"q25", arrow.BinaryTypes.String, "cast(approx_quantile($, 0.25) as varchar)", ofNumbers, "cast(quantile_disc($, 0.25) as varchar)"},
	{"q50", arrow.BinaryTypes.String, "cast(approx_quantile($, 0.5) as varchar)", ofNumbers, "cast(quantile_disc($, 0.5) as varchar)"},
	{"q75", arrow.BinaryTypes.String, "cast(approx_quantile($, 0.75) as varchar)", ofNumbers, "cast(quantile_disc($, 0.75) as varchar)"},
	{"most_frequent", arrow.BinaryTypes.String, "cast(mode($) as varchar)", nil, ""},
}

// of is the aggregate for column number i of the input.
func (p *profiled) of(c input.Column, i int) string {
	text := p.text
	switch {
	case c.Err != "":
		return nothing[p.typ.ID()]
	case p.only == nil || p.only(c.Type):
	case p.times != "" && ofTimes(c.Type):
		text = p.times
	default:
		return nothing[p.typ.ID()]
	}
	return strings.ReplaceAll(text, "$", fmt.Sprintf("#%d", i+1))
}

// nothing is an aggregate that is NULL, by type.
var nothing = map[arrow.Type]string{
	arrow.INT64: "cast(min(null) as bigint)", arrow.FLOAT64: "cast(min(null) as double)", arrow.STRING: "cast(min(null) as varchar)",
}

// transpose has the one row of a profile, count(*) and that of each column, be a row for each
// column.
func (r *Rows) transpose(columns []input.Column) error {
	if !r.Next() {
		return r.Err()
	}
	from := r.Record()
	fields := []arrow.Field{
		{Name: "column", Type: arrow.BinaryTypes.String},
		{Name: "type", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "count", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "null_percent", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}
	for _, p := range profile[1:] {
		fields = append(fields, arrow.Field{Name: p.name, Type: p.typ, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	defer b.Release()
	all := from.Column(0).(*array.Int64).Value(0)
	for i, c := range columns {
		b.Field(0).(*array.StringBuilder).Append(c.Name)
		cells := from.Columns()[1+i*len(profile):][:len(profile)]
		if c.Err != "" {
			for _, f := range b.Fields()[1:] {
				f.AppendNull()
			}
			continue
		}
		b.Field(1).(*array.StringBuilder).Append(c.Type)
		count := cells[0].(*array.Int64).Value(0)
		b.Field(2).(*array.Int64Builder).Append(count)
		if share := b.Field(3).(*array.Float64Builder); all == 0 {
			share.AppendNull()
		} else {
			share.Append(math.Round(1e4*float64(all-count)/float64(all)) / 1e2)
		}
		for k, cell := range cells[1:] {
			appendCell(b.Field(4+k), cell, 0)
		}
	}
	r.shape(b.NewRecord())
	return nil
}
