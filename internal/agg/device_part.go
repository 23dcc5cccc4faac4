package agg

// A device that has whole groups of the rows of part 0 by the keys and a value can make groups by
// the keys of them: it adds to each what a row of another part, with that value, comes to. The
// words of that part are those of no row before.

// PartWord says what a state word of a group without rows of a part becomes with one row of it,
// whose argument is not NULL.
type PartWord struct {
	Word int // index of the state word
	RowWord
	// FromConstant: Constant is added to the word. Else the word becomes what RowWord says, of the
	// argument and, as the other factor, the argument
}

// DevicePart tells what an Update with one row of a part makes of the state words, from word base
// of a row on, of a group that has rows of part 0 alone. All calls of the part have the same
// argument, which is not NULL. The words are as exact as those of DeviceRow.
//
// If the words do not follow from the argument so, or the device cannot combine them (DeviceOps),
// why says which aggregate it is.
func (l *Layout) DevicePart(part int) (words []PartWord, why string) {
	if _, _, why := l.DeviceOps(); why != "" {
		return nil, why
	}
	if part < len(l.counted) && l.counted[part].in() {
		words = append(words, PartWord{l.counted[part].off - l.base, RowWord{Constant: l.counted[part].one()}})
	}
	for _, s := range l.sets {
		if s.part == part && s.unseen.in() { // it is set
			words = append(words, PartWord{s.unseen.off - l.base, RowWord{Constant: -s.unseen.one()}})
		}
	}
	for i := range l.slots {
		s := &l.slots[i]
		if l.sets[s.set].part != part {
			continue
		}
		from := s.fromOne(l.types[s.x])
		if from == nil || s.op == opChain || s.hasPlace() || s.refs() != nil {
			return nil, l.callOf(i).name() + ": the device makes no states of it from values"
		}
		for k, source := range from {
			words = append(words, PartWord{s.hot + k - l.base, RowWord{From: source, Arg: s.x, Times: s.y, Fixed: s.fixedWord(source, k)}})
		}
	}
	return words, ""
}

// fixedWord says what word k of a slot has of a fixed-point number, if it is made of one.
func (s *slot) fixedWord(source RowSource, k int) (w FixedWord) {
	if n := source.Factors(); n > 0 {
		w = FixedWord{Base: s.fixed.low - n*(leastDigit-1), Beyond: s.fixed.top - n*fractionBits + 1, Word: k}
	}
	return w
}
