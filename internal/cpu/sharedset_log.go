package cpu

// This file is how keys wait for the slots of their partition where the slots of all partitions are more than a core's cache holds: each
// look-up would wait for memory. So the keys are logged, and looked for when there are many: then the slots are read from front to
// back, which the processor foresees, and stay in the cache meanwhile.
//
// LOGGED: a key that was entered is in the slots of its partition or in its log; in both, at times, of a set that is closed.

const (
	// logFrom is from how many words of slots on a partition has a log, if nothing else is asked for: all slots have 8 MiB then.
	logFrom = 4 << 10
	// logShare: a log has one of so many parts of the words of the slots. With 4 it took as much processor time, and 10 % more memory.
	logShare = 8
)

// growLog makes the log of a partition that has got more slots as large as these ask for, if there is memory.
func (s *sharedSet) growLog(p *setPart) {
	words := len(p.slots) / logShare / memberWords * memberWords
	if len(p.slots) < s.logFrom || words <= cap(p.log) {
		return
	}
	log, err := s.memory.getAny(words)
	if err != nil {
		return
	}
	old := p.log
	p.log = log[:copy(log, old)]
	s.memory.put(old[:cap(old)])
}

// settle looks for all keys of the log, unless the set is closed meanwhile: then those stay that it has not looked for.
func (s *sharedSet) settle(p *setPart) error {
	if len(p.log) >= cap(p.log)/2 {
		for at := 0; at < len(p.slots); at += lineSlots {
			p.touched ^= p.slots[at]
		}
	}
	each := memberWords / s.words * s.words
	for from := 0; from < len(p.log); from += each {
		if err := s.look(p, p.log[from:min(from+each, len(p.log))]); err != nil {
			p.log = p.log[:copy(p.log, p.log[from:])]
			return err
		}
	}
	p.log = p.log[:0]
	return nil
}
