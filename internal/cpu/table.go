package cpu

import (
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/key"
)

// table finds the group of a key.
//
// # Layout
//
// Group g is row g of rows.Rows, stride words; rows are appended and stay in
// the order of their first appearance. The directory dir is an array of
// 32-bit entries with open addressing: tag<<groupBits | group+1, 0 being free.
// The home slot of a hash is its top bits, the tag as many of its low bits as
// the number of a group leaves (15 of 32 for 1e5 groups), so that a probe
// looks at a row only for an equal tag.
//
// Linear probing wraps around at the end. Without deletions the occupied slots
// do not depend on the order of insertion, and each run of occupied
// slots holds exactly the groups whose home slots are in it: reading the
// directory from front to back, each run sorted by hash and what has wrapped
// around taken last, gives the groups in order of hash (RESULT-ORDER). That is
// so in a merger's directory, too, and no longer when it is seeded (CROWDED).
//
// # Looking up a batch
//
// Three passes, so that the cache misses of different rows overlap and
// mispredicted branches do not hold up the misses behind them: the first
// loads the directory entry of each row's home slot, the second goes on from
// there to the first entry with the tag, the third compares keys, which are
// nearly always equal. Rows that meet a free slot, or an equal tag of another
// key, are put on a list and probed one by one. Batches with long strings
// compare them in passes of their own (key.Encoder.Match).
//
// Rows and directory lie off the Go heap: drop frees them.
//
// The directory is at most half full.
type table struct {
	rows   agg.Table
	words  int         // key words
	base   int         // of a row: which word is the first of them
	keys   *key.Layout // layout of the keys
	n      uint32      // groups
	dir    directory
	recent recent // the directory of a table that is kept in the cache

	template []uint64 // a fresh row
	room              // see table_memory.go
	slow     []int32  // scratch: rows to probe one by one
	// a bit for each group: it is not the table's any more, at the end of the input; nil: all are
	left    []uint64
	leaving uint32 // how many are not
	touched uint64 // the words that touch has read, so that the compiler keeps the reads
}

// minRows is how many rows a table has room for at first.
const minRows = 1 << 9

func newTable(stride, words int, template []uint64, from budget.Lender) (*table, error) {
	t := &table{
		rows: agg.Table{Stride: stride}, words: words, base: 1, keys: new(key.Layout),
		dir: newDirectory(1, 1<<minDirBits, 0), template: template, room: room{from: from},
	}
	if err := t.secure(0); err != nil {
		t.drop()
		return nil, err
	}
	return t, nil
}

// find sets groups[i] to the group of the key of row i of the encoder's batch,
// and makes the groups that do not exist yet, for which room was secured
// (TABLE-ROOM). They are those from the returned number on. Their long strings go to
// the table's arena, where e.LongBytes() were reserved.
func (t *table) find(e *key.Encoder, groups []uint32) (firstNew uint32) {
	if t.inCache() {
		return t.findRecent(e, groups)
	}
	firstNew = t.n
	if t.dir.crowded() { // by the batch before
		t.dir.seed(t.secret)
	}
	t.dir.allow(len(groups))
	hash := e.Hash
	if t.dir.seeded {
		hash = e.Secret()
	}
	t.dir.candidates(hash, groups)
	t.slow = t.slow[:0]
	switch {
	case e.HasLong():
		t.matchLong(e, groups)
	case t.words == 1:
		t.match1(e.Words[0], groups)
	case t.words == 2:
		t.match2(e.Words[0], e.Words[1], groups)
	default:
		t.matchN(e.Words, groups)
	}
	for _, i := range t.slow[t.enterSlow(e, hash, groups):] {
		if t.dir.crowded() {
			t.dir.seed(t.secret)
			hash = e.Secret()
		}
		groups[i] = t.probe(hash[i], e, int(i))
	}
	return firstNew
}

// The match functions put the rows on the slow list whose candidate is none
// or has another key.
func (t *table) match1(w0 []uint64, groups []uint32) {
	rows, stride, base := t.rows.Rows, t.rows.Stride, t.base
	groups = groups[:len(w0)]
	for i, g := range groups {
		if g == noGroup || rows[int(g)*stride+base] != w0[i] {
			t.slow = append(t.slow, int32(i))
		}
	}
}

func (t *table) match2(w0, w1 []uint64, groups []uint32) {
	rows, stride, base := t.rows.Rows, t.rows.Stride, t.base
	groups, w1 = groups[:len(w0)], w1[:len(w0)]
	for i, g := range groups {
		if g != noGroup {
			r := rows[int(g)*stride+base:]
			if (r[0]^w0[i])|(r[1]^w1[i]) == 0 {
				continue
			}
		}
		t.slow = append(t.slow, int32(i))
	}
}

func (t *table) matchN(w [][]uint64, groups []uint32) {
	groups = groups[:len(w[0])]
	for i, g := range groups {
		if i%touchedRows == 0 {
			t.touch(groups[i:])
		}
		if g == noGroup || !t.equal(g, w, i) {
			t.slow = append(t.slow, int32(i))
		}
	}
}

const (
	// touchedRows is of how many rows the groups are touched at a time.
	touchedRows = 64
	// nearGroups is how many groups are in a cache.
	nearGroups = 1 << 14
)

// touch reads the first and the last key word of the groups of the next rows, if these may be far
// away, so that their cache misses overlap. It pays where keys have more than two words: by texts
// of 32 bytes of 200,000 groups, one thread, 1.25 s took 1.0. With one or two words, where
// comparing takes few instructions, it does not.
func (t *table) touch(groups []uint32) {
	if t.n < nearGroups {
		return
	}
	rows, stride, first, last := t.rows.Rows, t.rows.Stride, t.base, t.base+t.words-1
	sum := uint64(0)
	for _, g := range groups[:min(touchedRows, len(groups))] {
		if g != noGroup {
			sum |= rows[int(g)*stride+first] | rows[int(g)*stride+last]
		}
	}
	t.touched = sum
}

func (t *table) equal(g uint32, w [][]uint64, i int) bool { return same(t.keyOf(g), w, i) }

// probe finds or makes the group of one row; hash is what the directory places it by.
func (t *table) probe(hash uint64, e *key.Encoder, i int) uint32 {
	d := &t.dir
	s := d.home(hash)
	for ; d.slots[s] != 0; s = d.next(s) {
		if x := d.slots[s]; d.tagged(x, hash) && t.same(d.group(x), e, i) {
			d.probed(hash, s)
			return d.group(x)
		}
	}
	d.probed(hash, s)
	group := t.enter(s, hash, e, i)
	if e.HasLong() {
		e.Keep(i, t.keyOf(group), t.rows.Arena)
	}
	return group
}

// same reports whether the key of a group is that of row i.
func (t *table) same(g uint32, e *key.Encoder, i int) bool {
	if e.HasLong() {
		return t.equalLong(g, e, i, t.rows.Arena.Registry())
	}
	return t.equal(g, e.Words, i)
}

// enter makes the group of a row whose key has none, s being the free slot
// where its probing ended.
func (t *table) enter(s, hash uint64, e *key.Encoder, i int) uint32 {
	d, group := &t.dir, t.n
	if len(t.rows.Rows)+t.rows.Stride > cap(t.rows.Rows) {
		t.growRows()
	}
	if int(group) < d.capacity() {
		d.put(s, hash, group)
	} else {
		t.growDir()
		d.place(hash, group)
	}
	t.add(e.Hash[i], e.Words, i)
	return group
}

// add appends a fresh row for the key.
func (t *table) add(hash uint64, w [][]uint64, i int) {
	r := t.rows.Rows
	at := len(r)
	r = append(r, t.template...)
	r[at] = hash // or the key
	for k := range w {
		r[at+t.base+k] = w[k][i]
	}
	t.rows.Rows = r
	t.n++
}

// live is how many groups are the table's.
func (t *table) live() uint32 { return t.n - t.leaving }

// hasLeft reports whether a group is not the table's any more.
func (t *table) hasLeft(g uint32) bool { return t.left != nil && t.left[g/64]>>(g%64)&1 != 0 }

// dropLeft drops the rows of groups that are not the table's any more. None is looked up from now
// on.
func (t *table) dropLeft() {
	if t.leaving == 0 {
		return
	}
	stride, to := t.rows.Stride, 0
	for g := range t.n {
		if !t.hasLeft(g) {
			copyRow(t.rows.Rows[to:to+stride], t.rows.Rows[int(g)*stride:int(g+1)*stride])
			to += stride
		}
	}
	t.rows.Rows, t.n, t.left, t.leaving = t.rows.Rows[:to], t.live(), nil, 0
}

// addEmpty makes the one group of a query without keys, which exists even if
// no row does.
func (t *table) addEmpty(states *agg.Layout) error {
	if err := t.secure(1); err != nil {
		return err
	}
	t.growRows()
	t.rows.Rows = t.rows.Rows[:t.rows.Stride]
	t.rows.Rows[0] = key.EmptyHash // as in the rows of a device
	states.InitEmpty(t.rows.Rows)
	t.rows.Unseen = true
	t.n = 1
	return nil
}
