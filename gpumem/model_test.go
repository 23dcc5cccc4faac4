package gpumem_test

import (
	"fmt"
	"strings"
	"testing"
)

// A model checker for the page pool's algorithms. A pool of two words of two
// pages, and two or three threads, are a state machine whose steps are the
// atomic accesses; check visits every state that any order of the steps and any
// random choice can lead to, and looks at the invariants:
//
//	ONCE  no page is handed out while somebody holds it
//	PAST  no page past the end is handed out
//	KEPT  when all is done, exactly the pages that a thread holds are marked
//	ENDS  from every state the threads can still get to their end: no lock is
//	      kept, no thread waits or walks for ever
//	TRUE  a sweep says "out of memory" only if there was a moment during the call
//	      at which no page was free; a page is not yet free while its put goes on
//
// Memory is sequentially consistent here; what needs fences on a device is
// modelled by moving the access (a read before the lock, for instance).

const (
	modelWords = 2
	wordPages  = 2 // pages of a word
	allPages   = 1<<wordPages - 1
	nobody     = -1
)

// modelState is everything the steps depend on, and the ghosts that only the
// checker looks at. It is comparable: equal states are visited once.
type modelState struct {
	bits [modelWords]uint8 // a bit a page: it is taken
	lock [modelWords]bool
	puts uint8 // pages put while somebody swept
	busy uint8 // how many sweep
	th   [3]modelThread

	owner  [modelWords * wordPages]int8 // ghost: who holds the page
	broken string                       // ghost: the invariant that fell
}

// modelThread is a thread's registers.
type modelThread struct {
	op, pc   uint8
	word     uint8
	read     uint8 // what it saw in the word
	got      uint8 // the bits it took there
	extra    uint8 // of them, those it will give back
	first    uint8 // a run: the bits it took in the word before
	puts     uint8 // the counter before a sweep
	held     [2]int8
	out      bool  // the last get said out of memory
	pending  uint8 // ghost: the bit that its put has cleared and nobody has taken since
	exhausts bool  // ghost: no page was free at some moment of the call
}

// A step is one access to shared memory, with a number of random choices (0 for
// none). It returns the next step of its program, or finish.
type step struct {
	name    string
	choices uint8
	do      func(m *machine, s *modelState, me int, choice uint8) (next uint8)
}

type program []step

const finish = 255

// machine is a pool and what its threads do: the operations of each by letter,
// g get, p put the page held last, s get or be out of memory.
type machine struct {
	name            string
	get, put, sweep program
	pages           int
	stray           bool  // the bits past the end start clear
	taken           uint8 // pages that are in use all the time, a bit each
	scripts         []string
	broken          string // what the checker must find
}

func (m *machine) program(s *modelState, me int) program {
	switch m.scripts[me][s.th[me].op] {
	case 'g':
		return m.get
	case 's':
		return m.sweep
	default:
		return m.put
	}
}

func (m *machine) start() modelState {
	s := modelState{}
	for p := range s.owner {
		s.owner[p] = nobody
		if p >= m.pages && !m.stray || m.taken>>p&1 != 0 {
			s.bits[p/wordPages] |= 1 << (p % wordPages)
		}
	}
	for i := range s.th {
		s.th[i].held = [2]int8{nobody, nobody}
	}
	m.look(&s)
	return s
}

// ended tells whether a thread has nothing left to do.
func (m *machine) ended(s *modelState, me int) bool { return int(s.th[me].op) == len(m.scripts[me]) }

// hand gives a page to a thread.
func (s *modelState) hand(m *machine, me int, page int) {
	t := &s.th[me]
	switch {
	case page >= m.pages:
		s.broken = "PAST"
		return
	case s.owner[page] != nobody || m.taken>>page&1 != 0:
		s.broken = "ONCE"
		return
	}
	s.owner[page] = int8(me)
	t.held[1], t.held[0] = t.held[0], int8(page)
}

// drop takes the page held last from a thread; it is then the pool's to free.
func (s *modelState) drop(me int) int {
	t := &s.th[me]
	page := int(t.held[0])
	t.held[0], t.held[1] = t.held[1], nobody
	s.owner[page] = nobody
	return page
}

// move lets a thread take a step.
func (m *machine) move(s modelState, me int, choice uint8) modelState {
	code := m.program(&s, me)
	t := &s.th[me]
	if next := code[t.pc].do(m, &s, me, choice); next != finish {
		t.pc = next
	} else {
		if t.out && !t.exhausts {
			s.broken = "TRUE"
		}
		*t = modelThread{op: t.op + 1, held: t.held}
	}
	m.look(&s)
	return s
}

// look notes for every thread if no page is free now.
func (m *machine) look(s *modelState) {
	var free [modelWords]uint8
	for p := range m.pages {
		free[p/wordPages] |= 1 << (p % wordPages) &^ s.bits[p/wordPages]
	}
	for i := range m.scripts {
		t := &s.th[i]
		t.pending &^= s.bits[t.word]
		free[t.word] = free[t.word]&^t.pending | t.extra
	}
	if free == [modelWords]uint8{} {
		for i := range m.scripts {
			s.th[i].exhausts = !m.ended(s, i)
		}
	}
}

// settled looks at KEPT when all threads have ended.
func (m *machine) settled(s *modelState) string {
	for p, owner := range s.owner {
		free := p < m.pages && owner == nobody && m.taken>>p&1 == 0
		if marked := s.bits[p/wordPages]>>(p%wordPages)&1 != 0; marked == free {
			return "KEPT"
		}
	}
	return ""
}

// visit is a state that was reached, and how.
type visit struct {
	state modelState
	from  int
	by    string
}

// explore visits every state. It returns the broken invariant and the steps
// that lead there, or nothing and the number of states.
func (m *machine) explore() (broken, trace string, states int) {
	seen := map[modelState]int{}
	var all []visit
	var before [][]int // the states that lead to one
	reach := func(s modelState, from int, by string) {
		i, old := seen[s]
		if !old {
			i = len(all)
			seen[s] = i
			all = append(all, visit{s, from, by})
			before = append(before, nil)
		}
		if from >= 0 {
			before[i] = append(before[i], from)
		}
	}
	reach(m.start(), -1, "")
	var ends []int
	for i := 0; i < len(all); i++ {
		s := all[i].state
		if s.broken != "" {
			return s.broken, path(all, i), len(all)
		}
		running := false
		for me := range m.scripts {
			if m.ended(&s, me) {
				continue
			}
			running = true
			code := m.program(&s, me)[s.th[me].pc]
			for choice := range max(code.choices, 1) {
				reach(m.move(s, me, choice), i, fmt.Sprintf("%d %s %d", me, code.name, choice))
			}
		}
		if !running {
			if broken := m.settled(&s); broken != "" {
				return broken, path(all, i), len(all)
			}
			ends = append(ends, i)
		}
	}
	if stuck := cannotEnd(before, ends); stuck >= 0 {
		return "ENDS", path(all, stuck), len(all)
	}
	return "", "", len(all)
}

// cannotEnd is the first state from which no end can be reached, or -1.
func cannotEnd(before [][]int, ends []int) int {
	can := make([]bool, len(before))
	for todo := ends; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !can[i] {
			can[i] = true
			todo = append(todo, before[i]...)
		}
	}
	for i, ok := range can {
		if !ok {
			return i
		}
	}
	return -1
}

func path(all []visit, i int) string {
	var steps []string
	for ; all[i].from >= 0; i = all[i].from {
		steps = append([]string{all[i].by}, steps...)
	}
	return strings.Join(steps, "; ")
}

func TestModels(t *testing.T) {
	for _, m := range append(machines(), sweeps()...) {
		t.Run(m.name, func(t *testing.T) {
			broken, trace, states := m.explore()
			if broken != m.broken {
				t.Errorf("broken %q by %s, want %q", broken, trace, m.broken)
			}
			t.Logf("%d states; %s", states, trace)
		})
	}
}
