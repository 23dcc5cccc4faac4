package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// workspace is memory to sort entries in.
type workspace struct {
	words   []uint64  // entries, side by side
	out     []uint64  // the entries that remain
	spare   []uint64  // for sorting words
	other   []item    // for sorting items, which are entries of several words
	regs    []uint64  // of a HyperLogLog
	table   []uint32  // of dedupe
	buckets []int64   // of entries, of dedupe
	indexed           // strings where they lie
	refs    []uint64  // refs of strings
	reader  farReader // of strings that lie in runs

	open []followed // chains, of Finish
	ends []int      // of the values of each, in words

	streams [2]stream // of Finish

	stop stop // an error: nothing of the above is whole
}

// item is an entry of several words in the making of an order: what it is sorted by first, and
// where it begins: in words or, of a string, by ref, or by number of its tally.
type item struct {
	key int64
	at  uint64
}

const keepWorkspace = 1 << 22 // words: larger memory is given back after use

func (l *Layout) workspace() *workspace {
	w, ok := l.pools.spaces.Get().(*workspace)
	if !ok {
		w = new(workspace)
	}
	w.stop = l.stop()
	return w
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
	_ = k.blobs(reg, &w.stop, func(words []uint64) error {
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

// key is a number that sorts like the entry that e begins with, but may be equal for
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
		w.spare = sortWords(words, w.spare, &w.stop)
		return
	}
	w.items = w.items[:0]
	for at := 0; at < len(words) && !w.stop.due(c.words); {
		e := words[at:]
		w.items = append(w.items, item{c.key(e), uint64(at)})
		at += c.words
	}
	w.other = sortItems(w.items, w.other, &w.stop)
	if !c.keyDecides() {
		w.eachEqual(w.items, func(same []item) {
			slices.SortFunc(same, func(a, b item) int {
				if w.stop.due(longWork(0)) {
					return 0
				}
				return c.compare(words[a.at:], words[b.at:])
			})
		})
	}
}

// sortByPlace puts items in order of their places.
func (w *workspace) sortByPlace(items []item) {
	for i := range items {
		items[i].key = int64(items[i].at)
	}
	w.other = sortItems(items, w.other, &w.stop)
}

// eachEqual calls f with items of equal keys, where there are several, of items in the order of
// these.
func (w *workspace) eachEqual(items []item, f func(same []item)) {
	for from := 0; from < len(items) && !w.stop.due(1); {
		to := from + 1
		for to < len(items) && items[to].key == items[from].key {
			to++
		}
		if to-from > 1 {
			f(items[from:to])
		}
		from = to
	}
}

// radixFrom is how many elements sorting by digits pays for: measured, see
// BenchmarkSort.
const radixFrom = 64

// sortWords sorts words as signed numbers; spare is memory, returned for next
// time.
func sortWords(words, spare []uint64, stop *stop) []uint64 {
	if len(words) < radixFrom {
		slices.Sort(asSigned(words))
		return spare
	}
	spare = grow(spare, len(words))
	radix(words, spare, stop, func(x *uint64) uint64 { return *x ^ 1<<63 })
	return spare
}

func compareItems(a, b item) int { return compareInt(a.key, b.key) }

func sortItems(items, spare []item, stop *stop) []item {
	if len(items) < radixFrom {
		slices.SortFunc(items, compareItems)
		return spare
	}
	spare = grow(spare, len(items))
	radix(items, spare, stop, func(x *item) uint64 { return uint64(x.key) ^ 1<<63 })
	return spare
}

// radix sorts a by key with one pass for each byte in which keys differ,
// from the lowest. It is stable.
func radix[T any](a, spare []T, stop *stop, key func(*T) uint64) {
	differ, first := uint64(0), key(&a[0])
	for part := range slices.Chunk(a, radixPart) {
		for i := range part {
			differ |= key(&part[i]) ^ first
		}
		if stop.due(len(part)) {
			return
		}
	}
	from, to := a, spare
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		if pass(from, to, shift, stop, key); stop.err != nil {
			return
		}
		from, to = to, from
	}
	if &from[0] != &a[0] {
		copy(a, from)
	}
}

// radixPart is how many elements are passed over between two looks at whether the run was
// cancelled.
const radixPart = 1 << 14

// pass copies from to to in order of a byte of the keys.
func pass[T any](from, to []T, shift int, stop *stop, key func(*T) uint64) {
	var places [256]uint32
	for part := range slices.Chunk(from, radixPart) {
		for i := range part {
			places[key(&part[i])>>shift&0xff]++
		}
		if stop.due(len(part)) {
			return
		}
	}
	sum := uint32(0)
	for x, n := range places {
		places[x] = sum
		sum += n
	}
	for part := range slices.Chunk(from, radixPart) {
		for i := range part {
			p := &places[key(&part[i])>>shift&0xff]
			to[*p] = part[i]
			*p++
		}
		if stop.due(len(part)) {
			return
		}
	}
}
