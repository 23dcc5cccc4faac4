package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/gagg-dev/gagg/internal/expr"
)

// NoRows as a Query's Limit asks for no rows at all.
const NoRows = -1

// Query is the clauses of a query as texts. Elements of By, Aggs and OrderBy may each hold a list
// separated by commas.
type Query struct {
	By []string
	// grouping sets of By: Rollup, Cube, or a list such as "(a, b), (a), ()"; "": one, of all
	Sets    string
	Totals  bool // one more row, the last, of all rows that pass Where
	Aggs    []Agg
	Sample  Sample    // of the rows that Where sees
	Now     time.Time // what now() gives
	Where   string
	Having  string
	Params  []any // values of the parameters, as expr.ValueNode takes them
	OrderBy []string
	Pivot   string // a key whose values are to become columns; "": none
	Limit   int64  // the most rows of the result; 0: all; NoRows: none
	Offset  int64  // how many rows are passed over before these
	Part    Part   // of the row groups
	Mode    Mode

	Deterministic bool // sums of floats are exact: so are states
}

// Agg is an aggregate, an expression over aggregates, or a list of them without an alias.
type Agg struct {
	Text  string
	Alias string // "": none
}

// Validate reports what is wrong with a query whatever its input.
func (q Query) Validate() error {
	if q.Limit < NoRows {
		return usagef("limit: %d is negative", q.Limit)
	}
	if q.Offset < 0 {
		return usagef("offset: %d is negative", q.Offset)
	}
	if q.Mode.Writes() {
		if err := q.checkWrites(); err != nil {
			return err
		}
	}
	if err := q.Part.validate(); err != nil {
		return err
	}
	return q.Sample.validate()
}

// UsageError says that a query makes no sense.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// Operators lists the operators of expressions, in falling precedence.
func Operators() []expr.Operator { return expr.Operators() }

// Forms lists the forms that are neither operators nor functions, such as case.
func Forms() []expr.Form { return expr.Forms() }

// OtherNames is functions and aggregates as other systems call them, and what to write here.
func OtherNames() map[string]string { return expr.Elsewhere() }

// Types lists the types that casts take, by name.
func Types() []expr.TypeNames { return expr.Types() }

// Functions lists the scalar functions of expressions, by section and name.
func Functions() []expr.Function { return expr.Functions() }

// Decimal is a number with digits behind its point, as a parameter.
type Decimal = expr.Decimal

// ColumnText is a column as expressions name it.
func ColumnText(name string) string {
	if strings.HasPrefix(name, "#") { // else the column of that number
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return (&expr.Column{Name: name}).String()
}
