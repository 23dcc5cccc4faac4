package agg

import (
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/internal/arena"
)

// A chain of all values, of one word each, is a list of a device (combine.List). A row of one input
// row has a chain of one entry, which stands in the row, and the tails of such rows add up. A
// row that comes back says where the values of its group lie among those of all groups. They become
// a chain when they are read.

// oneListed is the tail of a chain of one entry.
const oneListed uint64 = countOne | chainInline

// listed reports whether the chain of s may be a list of a device.
func (s *slot) listed() bool { return s.chain.keep == keepAll && s.chain.words == 1 }

// DeviceLists is the chains of a layout that a device takes (DeviceOps), as lists of it: those of
// part 0.
func (l *Layout) DeviceLists() (lists []combine.List) {
	for _, i := range l.lists {
		word := l.slots[i].hot - l.base
		lists = append(lists, combine.List{Value: word, Next: word + 1, Count: word + 2, Unit: oneListed})
	}
	return lists
}

// TakeList reads the place of a list from the row of a group that a device gave back: the number of
// the group's first value among those of all groups, and how many it has. It empties the chain.
func (l *Layout) TakeList(row []uint64, list int) (first, n uint64) {
	k := linkOf(&l.slots[l.lists[list]], row)
	first, n = *k.head(), *k.tail()/oneListed
	*k.head(), *k.slot(), *k.tail() = 0, 0, 0
	return first, n
}

// ListNeed is at most what an arena needs for the values of a group that a device gave back, of all
// its lists, before TakeList: they come in buffers of combine.LeastValues or more, in which the
// group may begin and end anywhere.
func (l *Layout) ListNeed(row []uint64) (bytes int) {
	for _, i := range l.lists {
		if n := int(*linkOf(&l.slots[i], row).tail() / oneListed); n > 1 {
			// the entry in the row may move behind the others'
			bytes += 8*n + (n/combine.LeastValues+2)*arena.Size(8*(1+trailerWords))
		}
	}
	return bytes
}

// AppendList appends values of a list to the chain of a group, in a.
func (l *Layout) AppendList(row []uint64, list int, values []uint64, a *arena.Arena) {
	k := linkOf(&l.slots[l.lists[list]], row)
	if len(values) == 1 && *k.tail() == 0 {
		*k.head(), *k.tail() = values[0], oneListed
		return
	}
	copy(l.place(k, a, len(values), len(values)), values)
	*k.tail() += uint64(len(values)) * countOne
}
