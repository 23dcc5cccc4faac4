package agg

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// updateChain appends the values of a batch to the chains of their groups.
func (l *Layout) updateChain(t *Table, s *slot, v *view) {
	x := &v.args[s.x]
	switch s.chain.words {
	case 0:
		if s.chain.dedupes() {
			l.appendDistinctStrings(t, s, v.gids, v, x)
		} else {
			l.appendStrings(t, s, v, x)
		}
	case 1:
		l.appendWords(t, s, v.gids, s.chain.fillOne(t, v, x))
	default:
		l.appendEntries(t, s, v.gids, s.chain.fill(t, v, x))
	}
	for i, count := range v.counts {
		linkOf(s, t.Rows[int(v.gids[i])*t.Stride:][:t.Stride]).sawMore(int(count) - 1)
	}
}

// reduceChain appends the values of a batch to the chain of one group. It
// reports false, and does nothing, for strings of which each is kept.
func (l *Layout) reduceChain(t *Table, s *slot, group uint32, row []uint64, v *view) bool {
	c := &s.chain
	x := &v.args[s.x]
	if c.words == 0 {
		if c.dedupes() {
			l.appendDistinctStrings(t, s, t.scratch.repeat(group, v.rows), v, x)
			linkOf(s, row).sawMore(v.repeated())
		}
		return c.dedupes()
	}
	words := c.fillOne(t, v, x)
	switch {
	case c.bounded():
		l.appendWords(t, s, t.scratch.repeat(group, v.rows), words)
	case c.dedupes() && c.rep != column.RepWide:
		words = t.scratch.joinRecent(c, words)
		fallthrough
	default:
		k := linkOf(s, row)
		l.appendRun(k, t.Arena, words)
		k.sawMore(v.rows - len(words)/c.words + v.repeated())
	}
	return true
}

// sawMore counts values that were joined with others before they were appended.
func (k link) sawMore(n int) {
	if n > 0 {
		*k.tail() += uint64(n) * countOne
		*k.base() += uint64(n)
	}
}

// recentValues is how many values of a batch are looked for among those that follow. Most columns
// have fewer different values in a batch; of others a look costs little beside an entry.
const recentValues = 256

// recentSlot is where a value is looked for.
func recentSlot(v uint64) uint64 { return v * 0x9e3779b97f4a7c15 >> 56 }

// joinRecent makes one of equal entries of a batch, in place, where a small table finds them.
func (c *scratch) joinRecent(of *chain, words []uint64) []uint64 {
	c.recent = [recentValues]uint32{}
	filled := 0
	for at := 0; at < len(words); at += of.words {
		e := words[at : at+of.words]
		slot := &c.recent[recentSlot(e[of.value])]
		if *slot > 0 && words[*slot-1:][of.value] == e[of.value] {
			of.join(words[*slot-1:], e)
			continue
		}
		copy(words[filled:], e)
		*slot = uint32(filled + 1)
		filled += of.words
	}
	return words[:filled]
}

// appendDistinctStrings appends the strings of a batch to the chains of their groups, once those of
// a group that are the same bytes of memory, as those of one entry of a dictionary are, and that a
// small table finds.
func (l *Layout) appendDistinctStrings(t *Table, s *slot, gids []uint32, v *view, x *column.Vector) {
	b := &t.scratch
	b.recentTexts = [recentTexts]uint32{}
	b.wins, b.counts = b.wins[:0], b.counts[:0]
	for i, g := range gids {
		span := x.Span[i]
		slot := &b.recentTexts[recentText(span, g)]
		if *slot > 0 {
			if won := b.wins[*slot-1]; x.Span[won] == span && gids[won] == g {
				b.counts[*slot-1] += v.countOf(i)
				linkOf(s, t.Rows[int(g)*t.Stride:][:t.Stride]).sawMore(1)
				continue
			}
		}
		b.wins, b.counts = append(b.wins, int32(i)), append(b.counts, v.countOf(i))
		*slot = uint32(len(b.wins))
	}
	for at, i := range b.wins {
		k := linkOf(s, t.Rows[int(gids[i])*t.Stride:][:t.Stride])
		l.appendString(k, t.Arena, v, int(i), x.Bytes(int(i)), b.counts[at])
	}
}

// recentTexts is recentValues of strings, of which an entry costs more.
const recentTexts = 4096

// recentText is where the string of a group is looked for.
func recentText(span column.Span, group uint32) uint64 {
	return (uint64(span.Off)<<32 ^ uint64(span.Len) ^ uint64(group)<<16) * 0x9e3779b97f4a7c15 >> 52
}

// appendWords appends one word for each row.
func (l *Layout) appendWords(t *Table, s *slot, gids []uint32, words []uint64) {
	rows, stride := t.Rows[s.hot:], t.Stride
	words = words[:len(gids)]
	reg := t.Arena.Registry()
	chunks := reg.Chunks()
	bounded, large := s.chain.bounded(), mostLarge(len(gids))
	for i, g := range gids {
		if i%touchRows == 0 {
			t.touchTails(s, gids[i:], chunks)
		}
		w := rows[int(g)*stride:][:chainWords:chainWords]
		if bounded && int64(words[i]) > linkOf(s, t.Rows[int(g)*stride:][:stride]).bound() {
			continue
		}
		if w[2]&roomMask == 0 {
			if w[2] == 0 {
				w[0], w[2] = words[i], countOne|chainInline
				continue
			}
			k := linkOf(s, t.Rows[int(g)*stride:][:stride])
			l.extend(k, t.Arena, 1, k.blobSizeOf(&large))
			chunks = reg.Chunks()
		}
		*wordAt(chunks, w[1]) = words[i]
		w[1]++
		w[2] += countOne - 1
	}
}

// appendEntries appends an entry of several words for each row.
func (l *Layout) appendEntries(t *Table, s *slot, gids []uint32, words []uint64) {
	rows, stride, n, large := t.Rows[s.hot:], t.Stride, s.chain.words, mostLarge(len(gids))
	reg := t.Arena.Registry()
	chunks := reg.Chunks()
	for i, g := range gids {
		if i%touchRows == 0 {
			t.touchTails(s, gids[i:], chunks)
		}
		w := rows[int(g)*stride:][:chainWords:chainWords]
		e := words[i*n : i*n+n]
		if int(w[2]&roomMask) < n {
			if w[2] == 0 && n == 2 {
				w[0], w[1], w[2] = e[0], e[1], countOne|chainInline
				continue
			}
			k := linkOf(s, t.Rows[int(g)*stride:][:stride])
			l.extend(k, t.Arena, n, k.blobSizeOf(&large))
			chunks = reg.Chunks()
		}
		at := w[1]
		copy(wordsOf(chunks[at>>32][int(uint32(at))*8:][:8*n]), e)
		w[1] += uint64(n)
		w[2] += countOne - uint64(n)
	}
}

// The tails of many chains are far away in memory. A loop that appends waits
// for them one by one: which of them are full nobody can guess, and after a
// wrong guess the processor begins anew. So the places of the next entries are
// read first, by a loop that has nothing to guess and waits for all at once.

const (
	// so many tails are in a cache: between 1e4, where touching them costs 5 %, and 1e5, where it
	// saves a quarter of a scan
	nearChains = 1 << 15
	touchRows  = 256 // measured against 64
)

// touchTails reads where the next entries of the first groups go, if that is
// far away. It pays only with few instructions a group, so that many are under
// way at once: with a slice of the row's words it gains nothing.
func (t *Table) touchTails(s *slot, gids []uint32, chunks [][]byte) {
	rows, stride := t.Rows[s.hot:], t.Stride
	if len(rows)/stride < nearChains {
		return
	}
	sum := byte(0)
	for _, g := range gids[:min(len(gids), touchRows)] {
		head := int(g) * stride
		if rows[head] != 0 && rows[head+2]&chainInline == 0 { // as hasBlobs
			slot := rows[head+1]
			sum += chunks[slot>>32][8*uint64(uint32(slot))]
		}
	}
	t.scratch.touched = sum
}

// appendStrings appends a string for each row.
func (l *Layout) appendStrings(t *Table, s *slot, v *view, x *column.Vector) {
	for i, g := range v.gids {
		if i%touchRows == 0 {
			t.touchTails(s, v.gids[i:], t.Arena.Registry().Chunks())
		}
		l.appendString(linkOf(s, t.Rows[int(g)*t.Stride:][:t.Stride]), t.Arena, v, i, x.Bytes(i), v.countOf(i))
	}
}

// appendString appends b, the string of row i, that came `times` times.
func (l *Layout) appendString(k link, a *arena.Arena, v *view, i int, b []byte, times uint64) {
	c := k.chain
	n, size := c.value+stringWords(len(b)), 0
	if k.room() < n {
		size = k.blobSize(n)
	}
	e := l.place(k, a, n, size)
	if c.count != none {
		e[c.count] = times
	}
	if c.pos != none {
		e[c.pos] = uint64(v.pos[i])
	}
	e[c.value] = uint64(len(b))
	copy(bytesOf(e[c.value+1:]), b)
	*k.tail() += countOne
}

// appendRun appends fresh entries that lie side by side.
func (l *Layout) appendRun(k link, a *arena.Arena, words []uint64) {
	for len(words) > 0 {
		if k.room() < k.words {
			l.extend(k, a, k.words, k.blobSize(k.words))
		}
		part := min(k.room()/k.words*k.words, len(words))
		copy(l.place(k, a, part, 0), words[:part])
		words = words[part:]
		*k.tail() += uint64(part/k.words) * countOne
	}
}

// place returns room for n words behind the entries of a chain, from a blob of
// size words if it takes a new one.
func (l *Layout) place(k link, a *arena.Arena, n, size int) []uint64 {
	if k.room() < n {
		l.extend(k, a, n, size)
	}
	at := *k.slot()
	*k.slot() += uint64(n)
	if n > roomMask {
		k.setRoom(0) // extend made a blob of n words, a number too large for room
	} else {
		k.setRoom(k.room() - n)
	}
	return wordsOf(a.Registry().Chunks()[at>>32][int(uint32(at))*8:][:8*n])
}

// extend makes room for n words in the tail of a chain: by compacting it, by
// going on to an empty blob behind the tail, or with a new one of size words.
func (l *Layout) extend(k link, a *arena.Arena, n, size int) {
	if k.compacts() && l.compactDue(k) {
		l.compact(k, a)
		if k.room() >= n {
			return
		}
	}
	var last *uint64 // link of the last blob
	if k.hasBlobs() {
		if last = k.advance(a.Registry(), n); last == nil {
			return
		}
	}
	inline := k.isInline()
	if inline {
		size += k.words
	}
	blob := newBlob(a, size)
	if last != nil {
		*last = blob
		*k.slot() = blob
		k.setRoom(min(size, roomMask))
		return
	}
	e := [2]uint64{*k.head(), *k.slot()}
	*k.head(), *k.slot() = blob, blob
	k.setRoom(min(size, roomMask))
	if inline {
		copy(l.place(k, a, k.words, 0), e[:])
	}
}

// newBlob is a blob of size words without entries.
func newBlob(a *arena.Arena, size int) uint64 {
	ref, b := a.Room(8 * (size + trailerWords))
	clear(b[8*size:])
	return ref
}

// advance closes the tail and makes the next empty blob that takes n words the
// tail. If there is none it returns where the ref of a new one belongs.
func (k link) advance(reg *arena.Arenas, n int) *uint64 {
	end := *k.slot() + uint64(k.room())
	chunks := reg.Chunks()
	last := wordAt(chunks, end)
	*wordAt(chunks, end+1) = uint64(k.room())
	for *last != 0 {
		blob := wordsOf(reg.Get(*last))
		size := len(blob) - trailerWords
		if n <= size && size <= roomMask {
			*k.slot() = *last
			k.setRoom(size)
			return nil
		}
		last = &blob[size]
		blob[size+1] = uint64(size)
	}
	return last
}

// blobSizeOf is blobSize for one entry that is not a string, of a batch that may still take so many
// large blobs.
func (k link) blobSizeOf(large *int) int {
	if k.compacts() && k.values() >= largeFrom && *large > 0 {
		*large--
		return largeBlob / k.words * k.words
	}
	return k.blobSize(k.words)
}

// mostLarge is how many large blobs a batch takes at most, so that the memory that it may need
// stays near that of its entries.
func mostLarge(rows int) int { return 1 + rows/64 }

// blobSize is how many words the next blob of a chain has, which shall take n
// at once: as many entries as came so far, within limits.
func (k link) blobSize(n int) int {
	if k.words == 0 {
		return max(n, min(n*int(min(k.values(), 16)), blobWords))
	}
	entries := int(min(max(k.values(), firstEntries), blobWords))
	return max(n, min(entries*k.words, blobWords/k.words*k.words))
}
