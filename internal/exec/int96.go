package exec

import (
	"fmt"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
)

// boundedTimes evaluates an expression over INT96 timestamps. The reader
// makes those beyond 64 bits of microseconds the least or greatest timestamp,
// so that a filter can drop them. Where the filter does not, they must neither
// become a date that is in no file, nor make one group of different times.
type boundedTimes struct {
	cpu.Evaluator
	cols  []int // of the batch, those of INT96
	names []string
}

// evaluator makes the evaluator of a key or argument, which sees the rows
// that the filter has passed.
func (r *run) evaluator(e *expr.Expr, eval *expr.Eval) cpu.Evaluator {
	bounded := boundedTimes{Evaluator: eval}
	for _, c := range e.Columns() {
		if r.scan.Int96(c) {
			bounded.cols = append(bounded.cols, c)
			bounded.names = append(bounded.names, r.plan.Columns[c])
		}
	}
	if bounded.cols == nil {
		return bounded.Evaluator
	}
	return &bounded
}

func (e *boundedTimes) Eval(b *column.Batch, out *column.Vector) error {
	for i, c := range e.cols {
		if beyondInt64(&b.Cols[c]) {
			return &kindError{ErrInput, fmt.Errorf(
				"column %q holds INT96 timestamps that 64 bits of microseconds cannot (years -290308 to 294247); leave their rows out by a condition on it", e.names[i])}
		}
	}
	return e.Evaluator.Eval(b, out)
}

// beyondInt64 reports whether a value of v is at an end of int64.
func beyondInt64(v *column.Vector) bool {
	for i := range v.Len {
		if v.IsNull(i) {
			continue
		}
		k, values := i, v.Int
		if v.Dict != nil {
			k, values = int(v.Codes[i]), v.Dict.Values.Int
		}
		if x := values[k]; x == math.MinInt64 || x == math.MaxInt64 {
			return true
		}
	}
	return false
}
