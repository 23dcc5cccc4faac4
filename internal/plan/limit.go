package plan

import (
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/cpu"
)

// mostLimit is the greatest limit for which workers stop adding groups early. As many groups of 24
// bytes are 1.5 MiB, a core's second-level cache; with more, finding the last of the wanted groups
// takes longer than it saves. Of 1e7 rows in 1.8e6 groups, by two threads, a limit of 500,000 takes
// 0.33 s of a processor with stopping and 0.25 s without; one of 50,000 takes 0.23 and 0.22 s.
const mostLimit = 1 << 16

// HashLimit is the number of groups that are wanted of a query with a limit without an order, whose
// first groups in order of hash will do. False: the query is another, or wants too many.
func (p *Plan) HashLimit() (int, bool) {
	q := p.Query
	if q.Limit <= 0 || len(q.Order) > 0 || q.Having != nil || len(q.Distinct) > 0 || len(q.Groupings) > 0 || len(q.Keys) == 0 {
		return 0, false
	}
	return int(q.Limit + q.Offset), q.Offset < mostLimit && q.Limit+q.Offset <= mostLimit
}

// TopN says how many groups are wanted, and which word of a row has the rank, of a query that wants
// those with the greatest counts, sums or values, or the least values; nil: it is another query, or
// wants too many. The other groups are never finished, so no result of theirs may be able to fail
// (STEP-ERRORS).
func (p *Plan) TopN(states *agg.Layout) *cpu.TopN {
	q := p.Query
	if q.Limit <= 0 || len(q.Groupings) > 0 || q.Offset >= cpu.MostTopN || q.Limit+q.Offset > cpu.MostTopN || len(q.Order) == 0 || q.Having != nil || len(q.FallibleKeys()) > 0 {
		return nil
	}
	col, plain := q.Order[0].Expr.Column()
	call := col - len(q.Keys)
	if !plain || call < 0 {
		return nil
	}
	rank, known := states.RankOf(call, q.Order[0].Desc)
	if !known || rank.Greatest && q.Order[0].NullsFirst {
		return nil
	}
	for _, out := range q.Out {
		if out.Expr.MayFail() {
			return nil
		}
	}
	for i := range q.Calls {
		if states.MayOverflow(i) {
			return nil
		}
	}
	return &cpu.TopN{Groups: int(q.Limit + q.Offset), Rank: rank}
}
