package plan

import (
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/cpu"
)

// mostFirst is the most groups of which workers tell early that they are the only ones wanted:
// beyond, looking for the last of them takes longer than it saves. A guess.
const mostFirst = 1 << 16

// FirstGroups is how many groups are put out where these are simply the first ones; false: they are
// not, or too many.
func (p *Plan) FirstGroups() (int, bool) {
	q := p.Query
	if q.Query.Limit <= 0 || len(q.Order) > 0 || q.Having != nil || len(q.Distinct) > 0 || len(q.Keys) == 0 {
		return 0, false
	}
	return int(q.Query.Limit + q.Query.Offset), q.Query.Offset < mostFirst && q.Query.Limit+q.Query.Offset <= mostFirst
}

// TopGroups is how many groups are put out where these are those with the greatest counts, and
// where rows have these; nil: they are not, or too many. Of the others nothing is computed, so
// nothing of them may be an error (STAGE-ERRORS).
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
