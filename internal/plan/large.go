package plan

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// This file plans memory for long texts. The first plan does not know of them, since footers tell
// the sizes of pages at most. A run that reads a text for which its plan has no room ends. If the
// memory limit allows a plan with room, the next run has that; if not, the error names a limit that
// does.

// How many copies of a row with long texts are in memory at a time, by whether the texts are in
// keys or in aggregates. A worker has the row of a group, and the row that replaces it in an
// aggregate. A goroutine that merges has a group, another row of it and the result of combining
// both; later it has the group and its record, and one more copy if the result is sorted.
const (
	workerKeys, workerStates = 1, 2
	mergeKeys, mergeStates   = 2, 3
	sortedCopies             = 3
)

// largeNeeds is the memory that rows with texts take, if each text is as long as the longest one.
type largeNeeds struct {
	worker int64
	merge  int64 // of a goroutine that merges groups: all of its share
	sort   int64 // of one that puts them in order
}

func (p *Plan) largeNeeds(text int64) largeNeeds {
	keys, states := p.texts()
	// a shorter one leaves room for another
	row := text*(keys+states) + states*min(text, arena.Alone)
	w, m := int64(workerKeys), int64(mergeKeys)
	if states > 0 {
		w, m = workerStates, mergeStates
	}
	if len(p.Query.Order) > 0 {
		m = max(m, sortedCopies)
	}
	least := p.Options.Tuning.Needs.Groups
	// see loadShare of package cpu
	n := largeNeeds{worker: w*row + least, merge: (m*row + least) * 4 / 3}
	if len(p.Query.Order) > 0 {
		n.sort = text*p.sortedTexts() + least
	}
	return n
}

// texts is how many of the keys and of the aggregates hold texts.
func (p *Plan) texts() (keys, states int64) {
	for _, k := range p.Query.Keys {
		if k.Type().Rep() == column.RepBytes {
			keys++
		}
	}
	for _, c := range p.Query.Calls {
		for _, t := range c.Types {
			if t.Rep() == column.RepBytes {
				states++
			}
		}
	}
	return keys, states
}

// sortedTexts is how many texts a sorter holds: those of a row, and those that it is put in order
// by once more.
func (p *Plan) sortedTexts() (n int64) {
	for _, t := range p.Query.Order {
		if t.Expr.Type().Rep() == column.RepBytes {
			n += 2
		}
	}
	for _, out := range p.Query.Out {
		if out.Expr.Type().Rep() == column.RepBytes {
			n++
		}
	}
	return n
}

// planLarge is planMemory for an input that has such texts; false: the limit is too small.
func (p *Plan) planLarge(limit int64, threads int, l Learnt) (Memory, int, bool) {
	needs, g := p.largeNeeds(l.Text), groupingsOf(p.Query)
	read := p.reading + l.Read
	for ; threads > 0; threads-- {
		m, n, err := p.Options.Tuning.Needs.share(limit, threads, read, len(p.Query.Cols), g)
		if err != nil {
			return m, 0, false
		}
		threads = n
		more := max(needs.merge-m.Merge, 0) + max(needs.sort-m.Sort, 0)
		// the readers' memory is free when groups are merged
		m.Worker += min(m.Merge+m.Sort+m.Output/int64(threads), read-more)
		m.Merge, m.Sort = max(m.Merge, needs.merge), max(m.Sort, needs.sort)
		if m.Worker < needs.worker {
			continue
		}
		m.Table = m.Worker / tableShare
		m.Pages = min(m.Pages, m.Worker/pageShare)
		return m, threads, true
	}
	return Memory{}, 0, false
}

// planLearnt is the plan with what was learnt before; false: nothing was that changes it.
func (p *planner) planLearnt() (Memory, int, bool) {
	if p.Learnt.Text == 0 || p.left == 0 {
		return Memory{}, 0, false
	}
	m, threads, ok := p.planLarge(p.left, p.Threads, p.Learnt)
	if ok || !p.Learnt.Alone {
		return m, threads, ok
	}
	m, _, err := p.Options.Tuning.Needs.share(p.left, 1, p.reading, len(p.Query.Cols), groupingsOf(p.Query))
	return m, 1, err == nil
}

// largeNeed is a limit that planLarge takes.
func (p *Plan) largeNeed(l Learnt) int64 {
	needs := p.largeNeeds(l.Text)
	limit := needs.worker + needs.merge + p.reading + l.Read
	for step := max(limit/32, 1<<20); ; limit += step {
		if _, _, ok := p.planLarge(limit, 1, l); ok {
			return limit
		}
	}
}
