package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// workspace is memory to sort entries in.
type workspace struct {
	words   []uint64  // entries, side by side
	out     []uint64  // what is left of them
	spare   []uint64  // for sorting words
	other   []item    // for sorting items, which are entries of several words
	regs    []uint64  // of a HyperLogLog
	table   []uint32  // of dedupe
	indexed           // strings where they lie
	kept    []uint64  // refs of strings
	reader  farReader // of strings that lie in runs

	open []followed // chains, of Finish
	ends []int      // of the values of each, in words

	streams [2]stream // of Finish
}

// item is an entry of several words in the making of an order: what it is
// sorted by first, and where it begins: in words or, of a string, by ref, or by number of its tally.
type item struct {
	key int64
	at  uint64
}

const keepWorkspace = 1 << 22 // words: larger memory is given back after use

func (l *Layout) workspace() *workspace {
	if w, ok := l.pools.spaces.Get().(*workspace); ok {
		return w
	}
	return new(workspace)
}

func (l *Layout) release(w *workspace) {
	w.chunks = nil
	if cap(w.words)+cap(w.out)+cap(w.spare)+2*cap(w.items)+2*cap(w.other)+3*cap(w.tallies) <= keepWorkspace {
		l.pools.spaces.Put(w)
	}
}

// gather returns the entries of a chain that are in memory, side by side.
func (w *workspace) gather(k link, reg *arena.Arenas) []uint64 {
	w.words = w.words[:0]
	_ = k.blobs(reg, func(words []uint64) error {
		w.words = append(w.words, words...)
		return nil
	})
	return w.words
}

// compare tells the order of two entries, but of strings only where it is that of their positions.
func (c *chain) compare(a, b []uint64) int {
	switch {
	case c.keep == keepOrder:
		return compareInt(int64(a[c.pos]), int64(b[c.pos]))
	case c.rep == column.RepWide:
		return loadWide(a[c.value:]).Cmp(loadWide(b[c.value:]))
	}
	return compareInt(int64(a[c.value]), int64(b[c.value]))
}

func compareInt(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// key is what sorts like the entry that e begins with, but may be equal for
// entries that are not.
func (c *chain) key(e []uint64) int64 {
	switch {
	case c.keep == keepOrder:
		return int64(e[c.pos])
	case c.rep == column.RepWide:
		return int64(e[c.value+3])
	case c.rep == column.RepBytes:
		key := int64(prefixOf(c.text(e)) ^ 1<<63)
		if c.keep == keepGreatest {
			return ^key
		}
		return key
	}
	return int64(e[c.value])
}

// keyDecides reports whether entries with equal keys are equal.
func (c *chain) keyDecides() bool {
	return c.keep == keepOrder || c.rep == column.RepInt64 || c.rep == column.RepFloat64
}

// sort sorts entries that lie side by side, not strings: words itself if an entry is one
// word, else into w.items.
func (w *workspace) sort(c *chain, words []uint64) {
	if c.words == 1 {
		w.spare = sortWords(words, w.spare)
		return
	}
	w.items = w.items[:0]
	for at := 0; at < len(words); {
		e := words[at:]
		w.items = append(w.items, item{c.key(e), uint64(at)})
		at += c.words
	}
	w.other = sortItems(w.items, w.other)
	if !c.keyDecides() {
		w.sortEqual(func(a, b item) int { return c.compare(words[a.at:], words[b.at:]) })
	}
}

// sortEqual puts items in order that are sorted by their keys alone.
func (w *workspace) sortEqual(compare func(a, b item) int) {
	for from := 0; from < len(w.items); {
		to := from + 1
		for to < len(w.items) && w.items[to].key == w.items[from].key {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(w.items[from:to], compare)
		}
		from = to
	}
}

// radixFrom is how many elements sorting by digits pays for: measured, see
// BenchmarkSort.
const radixFrom = 64

// sortWords sorts words as signed numbers; spare is memory, returned for next
// time.
func sortWords(words, spare []uint64) []uint64 {
	if len(words) < radixFrom {
		slices.Sort(asSigned(words))
		return spare
	}
	spare = grow(spare, len(words))
	radix(words, spare, func(x *uint64) uint64 { return *x ^ 1<<63 })
	return spare
}

func compareItems(a, b item) int { return compareInt(a.key, b.key) }

func sortItems(items, spare []item) []item {
	if len(items) < radixFrom {
		slices.SortFunc(items, compareItems)
		return spare
	}
	spare = grow(spare, len(items))
	radix(items, spare, func(x *item) uint64 { return uint64(x.key) ^ 1<<63 })
	return spare
}

// radix sorts a by key with one pass for each byte in which keys differ,
// from the lowest. It is stable.
func radix[T any](a, spare []T, key func(*T) uint64) {
	differ, first := uint64(0), key(&a[0])
	for i := range a {
		differ |= key(&a[i]) ^ first
	}
	from, to := a, spare
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var places [256]uint32
		for i := range from {
			places[key(&from[i])>>shift&0xff]++
		}
		sum := uint32(0)
		for x, n := range places {
			places[x] = sum
			sum += n
		}
		for i := range from {
			p := &places[key(&from[i])>>shift&0xff]
			to[*p] = from[i]
			*p++
		}
		from, to = to, from
	}
	if &from[0] != &a[0] {
		copy(a, from)
	}
}
