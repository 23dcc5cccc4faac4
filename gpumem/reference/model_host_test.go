//go:build invariant

package reference

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// The host pool itself under the checker: its goroutines are coroutines that
// stop before every atomic access, and a schedule says who goes on. For a few
// pages and short scripts all schedules are tried in which a goroutine that
// could go on is interrupted a few times at most (faults in such code need two
// or three interruptions as a rule); for more, random ones without that limit.
// The invariants are those of HostPool.

// schedule makes the choices of a run: those of path first, then the first of
// each (to list all schedules) or random ones.
type schedule struct {
	rng    *rand.Rand // nil: list
	path   []int
	widths []int
	at     int
}

func (c *schedule) choose(n int) int {
	if c.rng != nil {
		return c.rng.IntN(n)
	}
	if c.at == len(c.path) {
		c.path, c.widths = append(c.path, 0), append(c.widths, n)
	}
	c.at++
	return c.path[c.at-1]
}

// next goes to the schedule that follows, and tells whether there is one.
func (c *schedule) next() bool {
	c.at = 0
	for i := len(c.path) - 1; i >= 0; i-- {
		if c.path[i]++; c.path[i] < c.widths[i] {
			c.path, c.widths = c.path[:i+1], c.widths[:i+1]
			return true
		}
	}
	return false
}

// hostModel is a run: the pool, and what the invariants say about it.
type hostModel struct {
	pool    *HostPool
	owner   []int  // who holds the page: 0 nobody
	pending []int  // by page: the goroutine whose call has freed it and has not ended
	before  []bool // the bitmap before the last step
	scripts []string
	wants   []int  // the length of the run that a goroutine's get looks for, 0 none
	dry     []bool // since its get began there was a moment without such a run
	fault   string
}

func (m *hostModel) marked(page int) bool {
	return m.pool.words[page/hostWordPages].Load()>>(page%hostWordPages)&1 != 0
}

// look follows a step of goroutine me: whose call freed what, and whether the
// runs that gets look for are there now.
func (m *hostModel) look(me int) {
	longest, free := 0, 0
	for page := range m.pool.pages {
		now := m.marked(page)
		switch {
		case now:
			m.pending[page] = 0
		case m.before[page]:
			m.pending[page] = me
		}
		m.before[page] = now
		if free++; now || m.pending[page] != 0 {
			free = 0
		}
		longest = max(longest, free)
	}
	for id, n := range m.wants {
		m.dry[id] = m.dry[id] || n > longest
	}
}

func (m *hostModel) broken(format string, args ...any) {
	if m.fault == "" {
		m.fault = fmt.Sprintf(format, args...)
	}
}

// do runs the operations of a goroutine: g gets a page, a digit a run of that
// length, - puts the run held longest.
func (m *hostModel) do(id int) {
	type run struct {
		first uint32
		n     int
	}
	var held []run
	w := m.pool.Walker()
	for _, op := range m.scripts[id-1] {
		switch n := int(op - '0'); op {
		case '-':
			if len(held) > 0 {
				fillInts(m.owner[held[0].first:int(held[0].first)+held[0].n], 0)
				m.pool.PutRun(held[0].first, held[0].n)
				held = held[1:]
			}
		case 'g':
			if first, ok := m.get(id, 1, w.Get); ok {
				held = append(held, run{first, 1})
			}
		default:
			if first, ok := m.get(id, n, func() (uint32, bool) { return w.GetRun(n) }); ok {
				held = append(held, run{first, n})
			}
		}
		for page, by := range m.pending {
			if by == id {
				m.pending[page] = 0
			}
		}
	}
}

// get calls a get of goroutine id, for n pages, and checks what it says.
func (m *hostModel) get(id, n int, call func() (uint32, bool)) (first uint32, ok bool) {
	m.wants[id], m.dry[id] = n, false
	m.look(id)
	first, ok = call()
	m.look(id)
	m.wants[id] = 0
	if !ok {
		if !m.dry[id] {
			m.broken("PAGE-TRUE: goroutine %d was refused a run of %d", id, n)
		}
		return 0, false
	}
	for i, owner := range m.owner[first : int(first)+n] {
		if owner != 0 {
			m.broken("PAGE-ONCE: page %d for %d is that of %d", int(first)+i, id, owner)
		}
	}
	fillInts(m.owner[first:int(first)+n], id)
	return first, true
}

func fillInts(s []int, v int) {
	for i := range s {
		s[i] = v
	}
}

// run lets the goroutines go on by the schedule until all have ended. It
// returns what fell. Of interruptions there are no more than interrupts.
func (m *hostModel) run(c *schedule, interrupts int) string {
	var live []*coroutine // the last one to be interrupted comes first
	var now *coroutine
	m.pool.step = func() { now.yield(struct{}{}) }
	for i := range m.scripts {
		r := &coroutine{id: i + 1}
		var stop func()
		r.next, stop = iter.Pull(func(yield func(struct{}) bool) {
			r.yield = yield
			m.do(r.id)
		})
		defer stop()
		live = append(live, r)
	}
	for len(live) > 0 && m.fault == "" {
		if now == nil || interrupts > 0 {
			i := c.choose(len(live))
			if now != nil && i > 0 {
				interrupts--
			}
			live[0], live[i] = live[i], live[0]
		}
		now = live[0]
		_, more := now.next()
		m.look(now.id)
		if !more {
			live, now = live[1:], nil
		}
	}
	m.pool.step = nil
	for page, owner := range m.owner {
		if m.fault == "" && m.marked(page) != (owner != 0) {
			m.broken("PAGE-KEPT: page %d, held by %d", page, owner)
		}
	}
	return m.fault
}

// coroutine is a goroutine of the model; next runs it up to its next access.
type coroutine struct {
	id    int
	next  func() (struct{}, bool)
	yield func(struct{}) bool
}

// newHostModel makes a pool of two words whose pages before and after the
// last ones of the first word are in use all the time: free pages lie across
// the border. With one word all pages are at its start. Walks are short, so that
// sweeps are many.
func newHostModel(pages, words int, seed uint64, scripts []string) *hostModel {
	total := pages
	if words == 2 {
		total = hostWordPages + pages - pages/2
	}
	p, err := NewHostPool(make([]byte, total), HostConfig{PageBytes: 1, Seed: seed, LowestFree: 0.9})
	if err != nil {
		panic(err)
	}
	m := &hostModel{
		pool: p, scripts: scripts,
		owner: make([]int, total), pending: make([]int, total), before: make([]bool, total),
		wants: make([]int, len(scripts)+1), dry: make([]bool, len(scripts)+1),
	}
	if words == 2 {
		if first := hostWordPages - pages/2; p.claim(0, first) {
			fillInts(m.owner[:first], -1)
		}
	}
	m.look(0)
	return m
}

func TestHostPoolInAllSchedules(t *testing.T) {
	for _, c := range []struct {
		pages, words int
		scripts      []string
	}{
		{1, 1, []string{"g-", "g-"}},
		{1, 1, []string{"g-", "1-", "g"}},
		{2, 1, []string{"g-g", "g-"}},
		{2, 1, []string{"2-", "g-", "g"}},
		{2, 2, []string{"g-g", "g"}},
		{2, 2, []string{"g-", "g", "g"}}, // a page put behind a sweep, another taken before it
		{2, 2, []string{"2-", "g-"}},
		{2, 2, []string{"2-", "2-"}},
		{3, 2, []string{"2-", "gg"}},
	} {
		t.Run(fmt.Sprintf("%d pages in %d words, %s", c.pages, c.words, strings.Join(c.scripts, " ")), func(t *testing.T) {
			interrupts, n := 6-len(c.scripts), 0
			for seed := range uint64(12 / len(c.scripts)) { // walks differ
				list := &schedule{}
				for more := true; more; more = list.next() {
					if fault := newHostModel(c.pages, c.words, seed, c.scripts).run(list, interrupts); fault != "" {
						t.Fatalf("%s, seed %d, schedule %v", fault, seed, list.path)
					}
					n++
				}
			}
			t.Logf("%d schedules", n)
		})
	}
}

func TestHostPoolInRandomSchedules(t *testing.T) {
	seeds := uint64(20_000)
	if testing.Short() {
		seeds = 3000
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 4))
		scripts := make([]string, 2+rng.IntN(3))
		for i := range scripts {
			for range 1 + rng.IntN(6) {
				scripts[i] += string("g123----"[rng.IntN(8)])
			}
		}
		pages, words := 1+rng.IntN(5), 1+rng.IntN(2)
		if fault := newHostModel(pages, words, seed, scripts).run(&schedule{rng: rng}, math.MaxInt); fault != "" {
			t.Fatalf("seed %d: %s (%d pages in %d words, %v)", seed, fault, pages, words, scripts)
		}
	}
}
