package plan

import (
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/cpu"
)

// mostFirst is the greatest limit for which workers stop adding groups early: with a greater one,
// finding the last of the wanted groups takes longer than it saves: as many groups of 24 bytes
// are 1.5 MiB, a core's second-level cache.
const mostFirst = 1 << 16

// FirstGroups is how many groups are wanted if any groups will do: a limit without an order. False:
// it matters which, or there are too many.
func (p *Plan) FirstGroups() (int, bool) {
	q := p.Query
	if q.Query.Limit <= 0 || len(q.Order) > 0 || q.Having != nil || len(q.Distinct) > 0 || len(q.Keys) == 0 {
		return 0, false
	}
	return int(q.Query.Limit + q.Query.Offset), q.Query.Offset < mostFirst && q.Query.Limit+q.Query.Offset <= mostFirst
}

// TopGroups says how many groups are wanted, and which word of a row has the count, if those with
// the greatest counts are; nil: others are, or too many. The other groups are never finished, so no
// result of theirs may be able to fail (STAGE-ERRORS).
func (p *Plan) TopGroups(states *agg.Layout) *cpu.Top {
	q := p.Query
	if q.Query.Limit <= 0 || q.Query.Offset >= cpu.MostTop || q.Query.Limit+q.Query.Offset > cpu.MostTop || len(q.Order) == 0 || !q.Order[0].Desc || q.Having != nil || len(q.FallibleKeys()) > 0 {
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
	return &cpu.Top{Groups: int(q.Query.Limit + q.Query.Offset), Word: word.Word, Shift: word.Shift, Mask: word.Mask}
}
