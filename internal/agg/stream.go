package agg

import "errors"

// stream is the entries of sorted sequences, runs on disk and entries in
// memory, in order. Entries of which the chain keeps only one come as one.
type stream struct {
	*chain
	heap    []*cursor // the least entry at its front
	ordered bool      // heap is one
	held    []uint64  // the entry that next has returned
	taken   int       // entries returned
	memory  cursor    // the sequence in memory
}

// reset makes s a stream of nothing.
func (s *stream) reset(c *chain) {
	s.chain, s.heap, s.ordered, s.taken = c, s.heap[:0], false, 0
}

// cursor is one sequence.
type cursor struct {
	entry []uint64 // the next one; nil: no more

	words []uint64 // what is left of the sequence, or of the blocks read so far

	run   []uint64 // refs of blocks not read yet
	from  Runs
	block []byte
	space []uint64 // holds words of a run
}

// addMemory adds sorted entries that lie side by side.
func (s *stream) addMemory(words []uint64) {
	s.memory = cursor{words: words}
	s.heap = append(s.heap, &s.memory)
}

func (s *stream) addRun(r run, from Runs) {
	s.heap = append(s.heap, &cursor{run: r[runHeader:], from: from})
}

// advance goes on to the next entry of a sequence.
func (k *cursor) advance(c *chain) error {
	k.entry = nil
	if more, err := k.fill(c.value + 1); err != nil || !more {
		return err
	}
	n := c.entryWords(k.words)
	more, err := k.fill(n)
	if err == nil && !more {
		err = errShortRun
	}
	if err != nil {
		return err
	}
	k.entry, k.words = k.words[:n:n], k.words[n:]
	return nil
}

var errShortRun = errors.New("a run of values ends inside a value")

// fill reads blocks until n words are there, and reports whether they are.
func (k *cursor) fill(n int) (bool, error) {
	for len(k.words) < n {
		if len(k.run) == 0 {
			return false, nil
		}
		block, err := k.from.Read(k.run[0], k.block)
		if err != nil {
			return false, err
		}
		k.block, k.run = block, k.run[1:]
		k.space = append(append(k.space[:0], k.words...), wordsOf(block)...)
		k.words = k.space
	}
	return true, nil
}

// next returns the next entry, nil at the end. It is valid until the next
// call, and may be written to.
func (s *stream) next() ([]uint64, error) {
	if err := s.begin(); err != nil || len(s.heap) == 0 || s.n > 0 && s.taken == s.n {
		return nil, err
	}
	s.taken++
	s.held = append(s.held[:0], s.heap[0].entry...)
	if err := s.pop(); err != nil {
		return nil, err
	}
	for len(s.heap) > 0 && s.merge(s.held, s.heap[0].entry) {
		if err := s.pop(); err != nil {
			return nil, err
		}
	}
	return s.held, nil
}

// begin makes the heap.
func (s *stream) begin() error {
	if s.ordered {
		return nil
	}
	s.ordered = true
	full := s.heap[:0]
	for _, k := range s.heap {
		if err := k.advance(s.chain); err != nil {
			return err
		}
		if k.entry != nil {
			full = append(full, k)
		}
	}
	s.heap = full
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.down(i)
	}
	return nil
}

// pop drops the entry at the front.
func (s *stream) pop() error {
	front := s.heap[0]
	if err := front.advance(s.chain); err != nil {
		return err
	}
	if front.entry == nil {
		last := len(s.heap) - 1
		s.heap[0], s.heap = s.heap[last], s.heap[:last]
	}
	s.down(0)
	return nil
}

func (s *stream) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(s.heap) {
			return
		}
		if child+1 < len(s.heap) && s.compare(s.heap[child+1].entry, s.heap[child].entry) < 0 {
			child++
		}
		if s.compare(s.heap[i].entry, s.heap[child].entry) <= 0 {
			return
		}
		s.heap[i], s.heap[child] = s.heap[child], s.heap[i]
		i = child
	}
}

// skip drops n entries, which must be there, and returns the one behind them.
func (s *stream) skip(n uint64) ([]uint64, error) {
	for ; n > 0; n-- {
		if e, err := s.next(); err != nil || e == nil {
			return nil, err
		}
	}
	return s.next()
}
