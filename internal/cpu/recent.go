package cpu

import (
	"math"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/key"
)

// recent is the directory of a table that is kept in the cache: it finds the groups that have come
// lately. It is mapped directly: entry i is the last group made of those whose hash begins with i.
//
// A group whose entry another one has taken is not found again. It stays among the table's rows,
// and its key makes another group when it comes again; merging joins the two, like the groups of
// two workers. So a look-up takes one load, a row of the table to compare with, and no branch that
// is hard to predict, whether it finds a group or not. Nor can keys be chosen so that it takes
// longer.
//
// RECENT: an entry may be older than the rows, which are emptied and filled again under it. It
// counts if the group exists and has the key; so the directory is never cleared.
type recent struct {
	groups []uint16 // nil: the table has another directory
	shift  uint     // entry of a hash: hash >> shift
}

// entriesEach is how many entries there are for each group that has room, at least. With 4, an
// eighth of the groups are lost in the mean, while the table fills.
const entriesEach = 4

// newRecent returns the rows of a table that take limit bytes together with their directory, and
// that.
func newRecent(stride int, limit int64) ([]uint64, recent) {
	groups := max(1, min(int(limit)/(8*stride+2*2*entriesEach), math.MaxUint16))
	b := uint(max(bits.Len(uint(entriesEach*groups-1)), minDirBits))
	return hostmem.Make[uint64](groups * stride)[:0], recent{groups: hostmem.Make[uint16](1 << b), shift: 64 - b}
}

// inCache reports whether the table is kept in the cache.
func (t *table) inCache() bool { return t.recent.groups != nil }

// rowsAtOnce is of how many rows the groups are looked up before those that have none are made: so
// few that the entries are still in the first-level cache then.
const rowsAtOnce = 256

// findRecent is find by the directory recent.
func (t *table) findRecent(e *key.Encoder, groups []uint32) (firstNew uint32) {
	firstNew = t.n
	if e.HasLong() {
		t.recentLong(e, groups)
		t.enterRecent(e, groups)
		return firstNew
	}
	t.slow = sized(t.slow, rowsAtOnce)
	for from := 0; from < len(groups); from += rowsAtOnce {
		t.recentWords(e, groups, from, min(from+rowsAtOnce, len(groups)))
		if len(e.Words) == 1 {
			t.enterRecent1(e.Hash, e.Words[0], groups)
		} else {
			t.enterRecent(e, groups)
		}
	}
	return firstNew
}

// recentWords sets the groups of some rows to those of the entries and puts the rows on the slow
// list that are of others. miss is negative for these: it takes no branch, since none would be
// predicted.
func (t *table) recentWords(e *key.Encoder, groups []uint32, from, to int) {
	stride, base, n, k := t.rows.Stride, t.base, int64(t.n), 0
	entries, shift, slow := t.recent.groups, t.recent.shift&63, t.slow[:rowsAtOnce]
	rows := t.rows.Rows[:cap(t.rows.Rows)]
	hash, groups, keys := e.Hash[from:to], groups[from:to], e.Words
	switch len(keys) {
	case 1:
		w0 := keys[0][from:to]
		for i, h := range hash {
			g := uint32(entries[h>>shift])
			groups[i] = g
			differ := int64(rows[int(g)*stride+base] ^ w0[i])
			miss := differ | -differ | (n - 1 - int64(g))
			slow[k] = int32(from + i)
			k += int(uint64(miss) >> 63)
		}
	default:
		for i, h := range hash {
			g := uint32(entries[h>>shift])
			groups[i] = g
			row, differ := rows[int(g)*stride+base:], int64(0)
			for x, w := range keys {
				differ |= int64(row[x] ^ w[from+i])
			}
			miss := differ | -differ | (n - 1 - int64(g))
			slow[k] = int32(from + i)
			k += int(uint64(miss) >> 63)
		}
	}
	t.slow = slow[:k]
}

// recentLong is recentWords for keys with long strings, of which those are compared whose hashes
// are equal.
func (t *table) recentLong(e *key.Encoder, groups []uint32) {
	r, stride := &t.recent, t.rows.Stride
	for i, h := range e.Hash[:len(groups)] {
		g := uint32(r.groups[h>>r.shift])
		if g >= t.n || t.rows.Rows[int(g)*stride] != h {
			g = noGroup
		}
		groups[i] = g
	}
	t.slow = t.slow[:0]
	t.matchLong(e, groups)
}

// enterRecent makes groups for the rows on the slow list.
func (t *table) enterRecent(e *key.Encoder, groups []uint32) {
	entries, shift := t.recent.groups, t.recent.shift&63
	stride, base, keys, states, long := t.rows.Stride, t.base, e.Words, t.template[t.base+len(e.Words):], e.HasLong()
	rows, n := t.rows.Rows, t.n
	firstNew := n
	for _, row := range t.slow {
		i := int(row)
		h := e.Hash[i]
		at := h >> shift
		g := uint32(entries[at])
		// made by a row before
		if g-firstNew < n-firstNew && (long && t.same(g, e, i) || !long && same(rows[int(g)*stride+base:], keys, i)) {
			groups[i] = g
			continue
		}
		entries[at] = uint16(n)
		rows = appendRow(rows, stride, h, keys, i, states)
		groups[i] = n
		n++
		if long {
			t.rows.Rows, t.n = rows, n
			e.Keep(i, t.keyOf(n-1), t.rows.Arena)
		}
	}
	t.rows.Rows, t.n = rows, n
}

// enterRecent1 is enterRecent for keys of one word: most of what a row costs whose group has left
// the cache.
func (t *table) enterRecent1(hash, keys []uint64, groups []uint32) {
	entries, shift, stride, base, states := t.recent.groups, t.recent.shift&63, t.rows.Stride, t.base, t.template[t.base+1:]
	hash, groups = hash[:len(keys)], groups[:len(keys)]
	firstNew, n := t.n, t.n
	rows := t.rows.Rows[:cap(t.rows.Rows)]
	at := len(t.rows.Rows)
	for _, row := range t.slow {
		i := uint(row)
		h, k := hash[i], keys[i]
		entry := &entries[h>>shift]
		// made by a row before
		if g := uint32(*entry); g-firstNew < n-firstNew && rows[int(g)*stride+base] == k {
			groups[i] = g
			continue
		}
		*entry = uint16(n)
		groups[i] = n
		n++
		fresh := rows[at:]
		fresh[0] = h // or the key
		fresh[base] = k
		fresh = fresh[base+1:]
		for x, s := range states { //nolint:staticcheck // a copy is a call
			fresh[x] = s
		}
		at += stride
	}
	t.rows.Rows, t.n = rows[:at], n
}
