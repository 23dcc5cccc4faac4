package plan

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/query"
)

// Scan is what is read for a query, and how.
func Scan(q *query.Compiled, o Options) parquetio.ScanOptions {
	scan := parquetio.ScanOptions{Columns: q.Cols, BatchRows: o.BatchRows}
	if q.Where != nil && !o.NoPruning {
		// the test that row groups and pages must pass
		scan.Skip, scan.SkipColumns = q.Where.CanSkip, q.Where.Columns()
	}
	sample := q.Texts.Sample
	if sample.OfGroups() {
		scan.Sample = sample.Takes
	}
	if q.Mode.Takes() {
		return scan
	}
	if part := q.Texts.Part; part.Of > 1 {
		scan.Part = part.Takes
	}
	if !o.NoPruning && !sample.OfRows() {
		scan.Extremes = extremes(q)
	}
	scan.Repeat = !sample.OfRows() && !slices.ContainsFunc(q.Calls, func(c agg.Call) bool { return c.Part == 0 && !c.Func.Repeats() })
	return scan
}

// extremes is the columns of which the query needs only the least and greatest values, of all rows;
// nil: it needs more.
func extremes(q *query.Compiled) []parquetio.Extreme {
	if len(q.Keys) > 0 || q.Where != nil {
		return nil
	}
	asked := make([]parquetio.Extreme, len(q.Cols))
	for i := range q.Calls {
		c := &q.Calls[i]
		least, greatest := c.Func.Extreme()
		if !least && !greatest || len(c.Args) != 1 || c.Part != 0 {
			return nil
		}
		arg := q.Args[c.Args[0]]
		col, ok := arg.Column()
		if !ok || arg.Type().IsNested() || arg.Type().Rep() != column.RepInt64 {
			return nil
		}
		asked[col].Least, asked[col].Greatest = asked[col].Least || least, asked[col].Greatest || greatest
	}
	return asked
}
