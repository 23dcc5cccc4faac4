package plan

import (
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/cpu"
)

// mostFirst is the greatest limit for which workers stop adding groups early. As many groups of 24
// bytes are 1.5 MiB, a core's second-level cache; with more, finding the last of the wanted groups
// takes longer than it saves. Of 1e7 rows in 1.8e6 groups, by two threads, a limit of 500,000 takes
// 0.33 s of a processor with stopping and 0.25 s without; one of 50,000 takes 0.23 and 0.22 s.
const mostFirst = 1 << 16

// FirstGroups is how many groups are wanted if any groups will do: a limit without an order. False:
// it matters which, or there are too many.
func (p *Plan) FirstGroups() (int, bool) {
	q := p.Query
	if q.Limit <= 0 || len(q.Order) > 0 || q.Having != nil || len(q.Distinct) > 0 || len(q.Groupings) > 0 || len(q.Keys) == 0 {
		return 0, false
	}
	return int(q.Limit + q.Offset), q.Offset < mostFirst && q.Limit+q.Offset <= mostFirst
}

// TopGroups says how many groups are wanted, and which word of a row has the count, if those with
// the greatest counts are; nil: others are, or too many. The other groups are never finished, so no
// result of theirs may be able to fail (STAGE-ERRORS).
func (p *Plan) TopGroups(states *agg.Layout) *cpu.Top {
	q := p.Query
	if q.Limit <= 0 || len(q.Groupings) > 0 || q.Offset >= cpu.MostTop || q.Limit+q.Offset > cpu.MostTop || len(q.Order) == 0 || !q.Order[0].Desc || q.Having != nil || len(q.FallibleKeys()) > 0 {
		return nil
	}
	col, plain := q.Order[0].Expr.Column()
	call := col - len(q.Keys)
	if !plain || call < 0 || !states.CountsRows(call) {
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
	word, _ := states.ResultWord(call)
	return &cpu.Top{Groups: int(q.Limit + q.Offset), Word: word.Word, Shift: word.Shift, Mask: word.Mask}
}
