// Package gagg groups and aggregates Parquet files, also such as are larger
// than memory:
//
//	rows, err := gagg.Run(ctx, gagg.Query{
//		From: gagg.Files("data/*.parquet"),
//		By:   []string{"id1"},
//		Aggs: []gagg.Agg{gagg.Sum("v1"), gagg.Mean("v3").As("m")},
//	}, gagg.Options{})
//
// What a query reads is a [Source]:
//
//	Files       paths, globs, folders, URLs, buckets
//	FS          the same of an fs.FS
//	Readers     files in io.ReaderAts; Parquet: one of them
//	Stream      a file, or an Arrow stream, out of an io.Reader
//	Records     an Arrow array.RecordReader
//	RecordSeq   an iterator over Arrow records
//	RecordChan  a channel of Arrow records
//
// Values of a program are given as [Query.Params], beside the text. The result, [Rows], is an Arrow
// record reader; [Write] and [WriteFile] write it in the formats of the command. [Plan] tells how a
// query would run, [Describe] what its input holds, [Summarize] what is in its columns. The
// language of the expressions and the meaning of the aggregates are in docs/semantics.md.
//
// The package prints nothing and keeps no state between calls. Of the environment it reads what
// says where things are: TMPDIR, for the folder of an empty Options.TempDir; GAGG_CUDA_LIBRARY,
// another file to load as the driver of GPUs; and, to say why there is no GPU,
// CUDA_VISIBLE_DEVICES. What a caller can do about an error is told by [ErrUsage], [ErrInput],
// [ErrOverflow], [ErrBudget] and [ErrDevice].
package gagg

import (
	"strconv"
	"strings"
	"time"

	"github.com/gagg-dev/gagg/internal/query"
)

// Sets of a Query that have a name.
const (
	Rollup = query.Rollup // of keys a, b: (a, b), (a), ()
	Cube   = query.Cube   // of keys a, b: (a, b), (a), (b), ()
)

// NoRows as a Query's Limit asks for no rows at all.
const NoRows = query.NoRows

// Query is `SELECT By, Aggs FROM From WHERE Where GROUP BY By HAVING Having
// ORDER BY OrderBy LIMIT Limit OFFSET Offset`. By, Aggs and OrderBy elements may each hold
// a list separated by commas.
//
// Where an expression has a parameter, a value of Params stands: for each ? the next one, in the
// order By, Aggs, Where, Having, OrderBy; or for $1, $2, … the first, the second. A value is never
// text of the query. It is a bool, an integer, a float, a string, a []byte, a [time.Time], which is
// an instant, a [time.Duration], which is an interval, a [Decimal], a *big.Int, a decimal128.Num or
// decimal256.Num of Arrow, which are whole numbers, a pointer to one of these, or nil, which is
// NULL. Too few values, too many, and those of other types are an [ErrUsage].
type Query struct {
	From Source
	By   []string // key columns or expressions, `as NAME`; none: one group of all rows
	// grouping sets: Rollup, Cube, or a list of sets of By such as "(a, b), (a), ()"; "": one, of
	// all
	Sets string
	// one more row, the last, of all rows that pass Where; Having, OrderBy, Limit and Offset do not
	// see it
	Totals  bool
	Aggs    []Agg    // none: the distinct keys
	Sample  Sample   // of the rows; Where sees these alone
	Where   string   // "": all rows
	Having  string   // over keys, aggregates and output names; "": all groups
	OrderBy []string // `name`, `-name`, `name desc nulls last`; none: in order of the keys' hash
	Params  []any    // values of the parameters: see above
	// a key whose values become columns, of each aggregate one; "": none. Limit and Offset count
	// rows of that
	Pivot  string
	Now    time.Time // what now() gives; zero: the time at which Run, Plan or Summarize is called
	Limit  int64     // the most rows of the result; 0: all; NoRows: none
	Offset int64     // how many rows are passed over before these

	// Part is a share of the row groups of From: the others are not read.
	Part Part
	// Partial has the rows be mergeable states of the aggregates in place of their results, as
	// docs/state-format.md describes them. Merge reads them. Having, OrderBy, Limit, Offset and
	// Pivot are left to who merges.
	Partial bool
}

// Decimal is a value of Query.Params: Unscaled / 10^Scale, of at most 76 digits.
type Decimal = query.Decimal

// Part is number Number of the Of shares of an input, from 1 on: stretches of its row groups with
// about as many rows each, in file order. Each row is in one of them. Zeros: all of the input.
type Part struct{ Number, Of int }

// Sample is a part of the rows of the input, chosen at random by a seed. Whether a row is in it
// depends on its number in the input, in file order and then row order: the same query has the
// same sample whatever the options.
type Sample struct {
	Percent float64 // of the rows; 0: all of them
	Groups  bool    // whole row groups are chosen, and the others not read
	Seed    uint64  // another one has another sample
}

// texts is the clauses of q.
func (q Query) texts() query.Query {
	t := query.Query{Part: query.Part(q.Part), By: q.By, Sets: q.Sets, Totals: q.Totals, Sample: query.Sample(q.Sample), Now: q.Now, Where: q.Where, Having: q.Having, Params: q.Params, OrderBy: q.OrderBy, Pivot: q.Pivot, Limit: q.Limit, Offset: q.Offset}
	if t.Now.IsZero() {
		t.Now = time.Now()
	}
	if q.Partial {
		t.Mode = query.WriteStates
	}
	for _, a := range q.Aggs {
		t.Aggs = append(t.Aggs, query.Agg{Text: a.text, Alias: a.alias})
	}
	return t
}

// Agg is an aggregate, or an expression over aggregates, with its name.
type Agg struct {
	text  string
	alias string // "": none
}

// Expr is an aggregate, an expression over aggregates or a list of them, as
// on the command line: `max(v1)-min(v2) as range, count(*)`.
func Expr(text string) Agg { return Agg{text: text} }

// As gives the result column a name. Without it, the name is the text of the
// expression in lower case: `sum(v1)`.
func (a Agg) As(name string) Agg {
	a.alias = name
	return a
}

// CountAll counts rows.
func CountAll() Agg { return Expr("count(*)") }

// Count counts the values of an expression that are not NULL.
func Count(x string) Agg { return call("count", x) }

// Sum adds: int64 for integers of up to 32 bits, decimal(38,0) for those of
// 64, decimal(38,s) for decimals, double for floats.
func Sum(x string) Agg { return call("sum", x) }

// Mean is the arithmetic mean, a double.
func Mean(x string) Agg { return call("mean", x) }

// Min is the least value.
func Min(x string) Agg { return call("min", x) }

// Max is the greatest value; NaN is greater than any number.
func Max(x string) Agg { return call("max", x) }

// VarSamp is the variance of a sample, a double.
func VarSamp(x string) Agg { return call("var_samp", x) }

// Stddev is the standard deviation of a sample, a double.
func Stddev(x string) Agg { return call("stddev_samp", x) }

// Corr is the correlation of two expressions, a double.
func Corr(x, y string) Agg { return call("corr", x, y) }

// First is the first value in file order that is not NULL.
func First(x string) Agg { return call("first", x) }

// Last is the last value in file order that is not NULL.
func Last(x string) Agg { return call("last", x) }

// AnyValue is any value that is not NULL: in fact the first.
func AnyValue(x string) Agg { return call("any_value", x) }

// ArgMin is the value of x in the row where y is least.
func ArgMin(x, y string) Agg { return call("arg_min", x, y) }

// ArgMax is the value of x in the row where y is greatest.
func ArgMax(x, y string) Agg { return call("arg_max", x, y) }

// CountDistinct counts the different values, NULL not among them.
func CountDistinct(x string) Agg { return call("count_distinct", x) }

// Median is the middle value, or the mean of the two in the middle.
func Median(x string) Agg { return call("median", x) }

// Quantile is the value at share p, from 0 to 1, of the sorted values; between
// two of them it is interpolated.
func Quantile(x string, p float64) Agg {
	return call("quantile", x, strconv.FormatFloat(p, 'f', -1, 64))
}

// Mode is the most frequent value; of several, the one met first.
func Mode(x string) Agg { return call("mode", x) }

// List is the values that are not NULL, in file order.
func List(x string) Agg { return call("list", x) }

// StringAgg joins the values that are not NULL, in file order, by sep.
func StringAgg(x, sep string) Agg {
	return call("string_agg", x, "'"+strings.ReplaceAll(sep, "'", "''")+"'")
}

func call(name string, args ...string) Agg {
	return Agg{text: name + "(" + strings.Join(args, ", ") + ")"}
}
