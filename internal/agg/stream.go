package agg

import "errors"

// stream is the entries of sorted sequences, runs on disk and entries in
// memory, in order. Entries of which the chain keeps only one come as one.
type stream struct {
	*chain
	heap    []*cursor // the least entry at its front
	ordered bool      // heap is one
	given   bool      // next has returned the entry at its front
	held    entry     // as next has returned it
	taken   int       // entries returned
	memory  cursor    // the sequence in memory
	readers farReaders
	failed  error // of comparing
	stop    *stop
}

// reset makes s a stream of nothing.
func (s *stream) reset(l *Layout, c *chain, stop *stop) {
	s.chain, s.heap, s.ordered, s.given, s.taken, s.failed, s.stop = c, s.heap[:0], false, false, 0, nil, stop
	s.readers = farReaders{l.farReader(s.readers.left.buf, stop), l.farReader(s.readers.right.buf, stop)}
}

// cursor is one sequence.
type cursor struct {
	entry entry     // the next one
	more  bool      // there is one
	head  [3]uint64 // the words before its string

	words []uint64 // the unread part of the sequence, or of the blocks read so far
	items []item   // what is left of a sequence of strings
	index *indexed // where these are

	run   run
	from  Runs
	size  int // words of a block
	next  int // number of the next block to be read
	at    int // words of the run in front of words
	skip  int // words of the entry that words begins with
	block []byte
	space []uint64 // holds words of a run
}

// sequence is entries in order: words side by side or, of strings, an index.
type sequence struct {
	words []uint64
	items []item
	index *indexed
}

func (q *sequence) empty() bool { return len(q.words)+len(q.items) == 0 }

// addMemory adds entries that are in memory.
func (s *stream) addMemory(q sequence) {
	s.memory = cursor{words: q.words, items: q.items, index: q.index}
	s.heap = append(s.heap, &s.memory)
}

func (s *stream) addRun(l *Layout, r run) {
	s.heap = append(s.heap, &cursor{run: r, from: l.runs, size: l.limits.block / 8})
}

// advance goes on to the next entry of a sequence.
func (k *cursor) advance(c *chain) (err error) {
	switch {
	case c.words > 0:
		if k.more, err = k.fill(c.words); k.more {
			k.entry.words = k.words[:c.words:c.words]
			k.drop(c.words)
		}
	case k.run == nil:
		if k.more = len(k.items) > 0; k.more {
			k.entry.words = k.head[:0]
			k.index.open(c, k.items[0], &k.entry)
			k.items = k.items[1:]
		}
	default:
		k.more, err = k.advanceString(c)
	}
	return err
}

// advanceString goes on to the next string of a run, and reads a block of it at most.
func (k *cursor) advanceString(c *chain) (more bool, err error) {
	k.drop(k.skip)
	head := c.value + 1
	if more, err := k.fill(head); err != nil || !more {
		return false, err
	}
	e := &k.entry
	e.words = append(k.head[:0], k.words[:head]...)
	e.size = int(e.words[c.value])
	k.drop(head)
	e.far = farPlace{k.run, k.at}
	k.skip = (e.size + 7) / 8
	if more, err = k.fill(min(k.skip, k.size)); err == nil && !more {
		err = errShortRun
	}
	b := bytesOf(k.words)
	e.text = b[:min(len(b), e.size)]
	return err == nil, err
}

var errShortRun = errors.New("a run of values ends inside a value")

// fill reads blocks until n words are there, and reports whether they are.
func (k *cursor) fill(n int) (bool, error) {
	for len(k.words) < n {
		if k.run == nil || k.next == len(k.run)-runHeader {
			if len(k.words) > 0 {
				return false, errShortRun
			}
			return false, nil
		}
		block, err := k.from.Read(k.run[runHeader+k.next], k.block)
		if err != nil {
			return false, err
		}
		words := wordsOf(block)
		if len(k.words) == 0 {
			if len(words) < k.at-k.next*k.size {
				return false, errShortRun
			}
			words = words[k.at-k.next*k.size:]
		}
		k.block, k.next = block, k.next+1
		k.space = append(append(k.space[:0], k.words...), words...)
		k.words = k.space
	}
	return true, nil
}

// drop passes over n words.
func (k *cursor) drop(n int) {
	k.at += n
	if n <= len(k.words) {
		k.words = k.words[n:]
		return
	}
	k.words, k.next = nil, k.at/k.size
}

// next returns the next entry, nil at the end. It is valid until the next
// call, and its words may be written to.
func (s *stream) next() (*entry, error) {
	if err := s.begin(); err != nil || len(s.heap) == 0 || s.n > 0 && s.taken == s.n {
		return nil, err
	}
	s.taken++
	s.given = true
	front := &s.heap[0].entry
	s.held.words = append(s.held.words[:0], front.words...)
	s.held.text, s.held.size, s.held.far = front.text, front.size, front.far
	if s.dedupes() {
		if err := s.joinEqual(); err != nil {
			return nil, err
		}
	}
	return &s.held, s.failed
}

// joinEqual takes entries that become one with the one held. They are in front of all others but
// the first.
func (s *stream) joinEqual() error {
	for child := 1; child < min(len(s.heap), 3); {
		e := &s.heap[child].entry
		if !s.isSame(&s.held, e) {
			child++
			continue
		}
		s.join(s.held.words, e.words)
		if err := s.pop(child); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) isSame(a, b *entry) bool {
	if s.words > 0 {
		return s.same(a.words, b.words)
	}
	return a.size == b.size && s.order(a, b) == 0
}

// order tells the order of two entries.
func (s *stream) order(a, b *entry) int {
	if s.words > 0 || s.keep == keepOrder {
		return s.compare(a.words, b.words)
	}
	order, err := s.readers.compare(a, b)
	if err != nil {
		s.failed = err
	}
	return s.direct(order)
}

// begin makes the heap, or goes on behind the entry that was given.
func (s *stream) begin() error {
	if s.ordered {
		if !s.given {
			return s.failed
		}
		s.given = false
		return s.pop(0)
	}
	s.ordered = true
	full := s.heap[:0]
	for _, k := range s.heap {
		if err := k.advance(s.chain); err != nil {
			return err
		}
		if k.more {
			full = append(full, k)
		}
	}
	s.heap = full
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.down(i)
	}
	return s.failed
}

// pop drops the entry at place i of the heap.
func (s *stream) pop(i int) error {
	k := s.heap[i]
	if s.stop.due(longWork(0)) {
		return s.stop.err
	}
	if err := k.advance(s.chain); err != nil {
		return err
	}
	if !k.more {
		last := len(s.heap) - 1
		s.heap[i], s.heap = s.heap[last], s.heap[:last]
	}
	s.down(i)
	return s.failed
}

func (s *stream) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(s.heap) {
			return
		}
		if child+1 < len(s.heap) && s.order(&s.heap[child+1].entry, &s.heap[child].entry) < 0 {
			child++
		}
		if s.order(&s.heap[i].entry, &s.heap[child].entry) <= 0 {
			return
		}
		s.heap[i], s.heap[child] = s.heap[child], s.heap[i]
		i = child
	}
}

// skipValues drops n values, and returns the entry of the one behind them, and how many more values
// it has behind that.
func (s *stream) skipValues(n uint64) (e *entry, more uint64, err error) {
	if s.count == none {
		e, err = s.skip(n)
		return e, 0, err
	}
	for {
		if e, err = s.next(); err != nil || e == nil {
			return nil, 0, err
		}
		if count := e.words[s.count]; n >= count {
			n -= count
		} else {
			return e, count - n - 1, nil
		}
	}
}

// skip drops n entries, which must be there, and returns the one behind them.
func (s *stream) skip(n uint64) (*entry, error) {
	for ; n > 0; n-- {
		if e, err := s.next(); err != nil || e == nil {
			return nil, err
		}
	}
	return s.next()
}
