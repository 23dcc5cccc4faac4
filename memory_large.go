package gagg

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// This file is what a run does about texts that are a large part of its memory. Plans do not know of them: footers tell of pages at most. A run
// that meets one for which it finds no room begins again, with a plan that has room for it, if the limit allows one, and else says which
// limit does. So what it says is enough: with that limit there is such a plan.

// again is how much more must be learnt for another attempt to be worth it: so there are few.
const again = 1.25

// A row with long texts is in memory some times over, these being of keys and of aggregates: a worker has the row of a group beside the one that
// takes its place in an aggregate; a goroutine that merges has a group, another row of it, and what the aggregate of both becomes, and then the
// group and its record, which is sorted on its way if there is an order.
const (
	workerKeys, workerStates = 1, 2
	mergeKeys, mergeStates   = 2, 3
	sortedCopies             = 3
)

// largeNeeds is what texts take, each as many bytes as the longest one.
type largeNeeds struct {
	worker int64
	merge  int64 // of a goroutine that merges groups: all of its share
	sort   int64 // of one that puts them in order
}

func (p *prepared) largeNeeds(text int64) largeNeeds {
	keys, states := p.texts()
	row := text*(keys+states) + states*min(text, arena.Alone) // a shorter one leaves room for another
	w, m := int64(workerKeys), int64(mergeKeys)
	if states > 0 {
		w, m = workerStates, mergeStates
	}
	if len(p.query.Order) > 0 {
		m = max(m, sortedCopies)
	}
	least := p.tuning.needs.groups
	n := largeNeeds{worker: w*row + least, merge: (m*row + least) * 4 / 3} // see loadShare of package cpu
	if len(p.query.Order) > 0 {
		n.sort = text*p.sortedTexts() + least
	}
	return n
}

// texts is how many of the keys and of the aggregates hold texts.
func (p *prepared) texts() (keys, states int64) {
	for _, k := range p.query.Keys {
		if k.Type().Rep() == column.RepBytes {
			keys++
		}
	}
	for _, c := range p.query.Calls {
		for _, a := range c.Args {
			if a >= 0 && p.query.Args[a].Type().Rep() == column.RepBytes {
				states++
			}
		}
	}
	return keys, states
}

// sortedTexts is how many texts a sorter holds: those of a row, and those that it is put in order by once more.
func (p *prepared) sortedTexts() (n int64) {
	for _, t := range p.query.Order {
		if t.Expr.Type().Rep() == column.RepBytes {
			n += 2
		}
	}
	for _, out := range p.query.Out {
		if out.Expr.Type().Rep() == column.RepBytes {
			n++
		}
	}
	return n
}

// planLarge is planMemory for an input that has such texts; false: the limit is too small.
func (p *prepared) planLarge(limit int64, threads int, l learnt) (MemoryPlan, int, bool) {
	needs, g := p.largeNeeds(l.text), groupingsOf(p.query)
	read := p.scan.WorkerBytes() + l.read
	for ; threads > 0; threads-- {
		m, n, err := p.tuning.needs.plan(limit, threads, read, len(p.query.Cols), g)
		if err != nil {
			return m, 0, false
		}
		threads = n
		more := max(needs.merge-m.Merge, 0) + max(needs.sort-m.Sort, 0)
		m.Worker += min(m.Merge+m.Sort+m.Output/int64(threads), read-more) // what is read with is free when groups are merged
		m.Merge, m.Sort = max(m.Merge, needs.merge), max(m.Sort, needs.sort)
		if m.Worker < needs.worker {
			continue
		}
		m.Table = m.Worker / tableShare
		m.Pages = min(m.Pages, m.Worker/pageShare)
		return m, threads, true
	}
	return MemoryPlan{}, 0, false
}

// planLearnt is the plan with what was learnt before; false: nothing was that changes it.
func (p *prepared) planLearnt(limit int64) (MemoryPlan, int, bool) {
	if p.learnt.text == 0 || limit == 0 {
		return MemoryPlan{}, 0, false
	}
	m, threads, ok := p.planLarge(limit, p.threads, p.learnt)
	if ok || !p.learnt.alone {
		return m, threads, ok
	}
	m, _, err := p.tuning.needs.plan(limit, 1, p.scan.WorkerBytes(), len(p.query.Cols), groupingsOf(p.query))
	return m, 1, err == nil
}

// largeNeed is a limit that planLarge takes.
func (p *prepared) largeNeed(l learnt) int64 {
	needs := p.largeNeeds(l.text)
	limit := needs.worker + needs.merge + p.scan.WorkerBytes() + l.read
	for step := max(limit/32, 1<<20); ; limit += step {
		if _, _, ok := p.planLarge(limit, 1, l); ok {
			return limit
		}
	}
}

// learntNeed is largeNeed for what was learnt; 0: nothing was.
func (p *prepared) learntNeed() int64 {
	if p.learnt.text == 0 {
		return 0
	}
	return p.largeNeed(p.learnt)
}

// learn adds to l what err tells of texts.
func (p *prepared) learn(l *learnt, err error) {
	var page *parquetio.MemoryError
	if errors.As(err, &page) && page.Value > 0 {
		l.text = max(l.text, page.Value)
		l.read = max(l.read, page.All+page.All/8+1<<20)
	}
	var row *cpu.LargeError
	if errors.As(err, &row) {
		l.text = max(l.text, row.Text)
	}
	var long *longError
	if errors.As(err, &long) {
		l.text = max(l.text, long.text)
	}
}

// longError tells that texts are too long for the plan at hand, and that there is a better one.
type longError struct{ text int64 }

func (e *longError) Error() string { return "there are texts of " + mib(e.text) }

// leastLong is how long a text is at least for a plan to have room for it. Shorter ones find room in any.
const leastLong = 1 << 20

// longText is told of texts while the input is read. Where merging their groups, or putting them out, may be refused by the plan at hand, and
// another attempt has a better one, it ends this one at once. Else it is tried, and may go well.
func (r *run) longText(text int64) error {
	if text < leastLong {
		return nil
	}
	l := r.learnt
	l.text = max(l.text, text)
	if n := r.largeNeeds(l.text); r.memory.Merge >= n.merge && r.memory.Sort >= n.sort || !r.better(r.learnt, l) {
		return nil
	}
	return &longError{text}
}

// better reports whether another attempt, with what was learnt in one that knew less, may go well.
func (r *run) better(was, l learnt) bool {
	if !r.scan.Rereadable() || float64(l.text) <= again*float64(was.text) && float64(l.read) <= again*float64(was.read) {
		return false
	}
	_, _, ok := r.planLarge(r.memory.Limit, r.threads, l)
	return ok
}

// retries learns from an error, and reports whether another attempt may go well. If not, it returns the error that says what limit is
// enough, if this one is about texts.
func (r *run) retries(l *learnt, err error) (bool, error) {
	was := *l
	if r.learn(l, err); l.text < leastLong {
		l.text = 0
	}
	better := r.better(was, *l)
	if !better && l.text > 0 && r.threads > 1 && r.scan.Rereadable() && !l.alone {
		better, l.alone = true, true
	}
	if better {
		return true, err
	}
	r.learnt = *l
	return false, r.largeError(err)
}

// largeError is a refusal of memory as a NeedError that says what is enough for the texts that were met.
func (r *run) largeError(err error) error {
	if err == nil || isA[*NeedError](err) || r.learnt.text == 0 || !errors.Is(err, budget.Memory) {
		return err
	}
	need := r.metadata + r.learntNeed()
	if need <= r.budget.Limit() { // it should have been enough
		need = r.budget.Limit() + r.budget.Limit()/8
	}
	return &NeedError{Limit: r.budget.Limit(), Need: need, Result: "there are texts of up to " + mib(r.learnt.text)}
}
