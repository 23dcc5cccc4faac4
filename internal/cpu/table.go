package cpu

import (
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/hostmem"
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
// are the same whatever the order of insertion, and each run of occupied
// slots holds exactly the groups whose home slots are in it: reading the
// directory from front to back, each run sorted by hash and what has wrapped
// around taken last, gives the groups in order of hash (HASH-ORDER).
//
// # Looking up a batch
//
// Three passes, so that the cache misses of different rows overlap and
// mispredicted branches do not hold up the misses behind them: the first
// loads the directory entry of each row's home slot, the second goes on from
// there to the first entry with the tag, the third compares keys, which are
// nearly always equal. Rows that meet a free slot, or an equal tag of another
// key, are put on a list and probed one by one. Batches with long strings
// take the same passes and one more, which compares their bytes
// (table_long.go).
//
// Rows and directory lie off the Go heap: drop frees them.
//
// The directory is at most half full.
type table struct {
	rows  agg.Table
	words int    // key words
	n     uint32 // groups
	dir   directory

	template []uint64 // a fresh row
	grow     func(bytes int64) error
	slow     []int32 // scratch: rows to probe one by one
}

// minRows is how many rows a table has room for at first.
const minRows = 1 << 9

func newTable(stride, words int, template []uint64, grow func(int64) error) (*table, error) {
	t := &table{
		rows: agg.Table{Stride: stride}, words: words,
		dir: newDirectory(1, 1<<minDirBits, 0), template: template, grow: grow,
	}
	return t, grow(t.bytes())
}

// bytes is the memory that the table holds.
func (t *table) bytes() int64 {
	return int64(cap(t.rows.Rows))*8 + int64(len(t.dir.slots))*4
}

// drop frees the table.
func (t *table) drop() {
	held := t.bytes()
	hostmem.Free(t.rows.Rows)
	t.rows.Rows, t.n = nil, 0
	t.dir.drop()
	_ = t.grow(-held) // only asking for more can fail
}

// find sets groups[i] to the group of the key of row i, given by its hash and
// words w[0][i], w[1][i] …, and makes the groups that do not exist yet. They
// are those from the returned number on.
func (t *table) find(hash []uint64, w [][]uint64, groups []uint32) (firstNew uint32, err error) {
	firstNew = t.n
	t.candidates(hash, groups)
	t.slow = t.slow[:0]
	switch t.words {
	case 1:
		t.match1(w[0], groups)
	case 2:
		t.match2(w[0], w[1], groups)
	default:
		t.matchN(w, groups)
	}
	for _, i := range t.slow {
		if groups[i], err = t.probe(hash[i], w, int(i)); err != nil {
			return firstNew, err
		}
	}
	return firstNew, nil
}

// candidates sets groups[i] to the first group from the home slot of hash[i]
// on with its tag, or noGroup if a free slot comes before.
func (t *table) candidates(hash []uint64, groups []uint32) {
	d := &t.dir
	slots, shift, entries := d.slots, d.shift&63, groups[:len(hash)]
	for i, h := range hash {
		entries[i] = slots[h>>shift]
	}
	for i, e := range entries {
		h := hash[i]
		for s := h >> shift; e != 0 && !d.tagged(e, h); e = slots[s] {
			s = d.next(s)
		}
		groups[i] = d.group(e)
	}
}

// The match functions put the rows on the slow list whose candidate is none
// or has another key.
func (t *table) match1(w0 []uint64, groups []uint32) {
	rows, stride := t.rows.Rows, t.rows.Stride
	groups = groups[:len(w0)]
	for i, g := range groups {
		if g == noGroup || rows[int(g)*stride+1] != w0[i] {
			t.slow = append(t.slow, int32(i))
		}
	}
}

func (t *table) match2(w0, w1 []uint64, groups []uint32) {
	rows, stride := t.rows.Rows, t.rows.Stride
	groups, w1 = groups[:len(w0)], w1[:len(w0)]
	for i, g := range groups {
		if g != noGroup {
			r := rows[int(g)*stride:]
			if (r[1]^w0[i])|(r[2]^w1[i]) == 0 {
				continue
			}
		}
		t.slow = append(t.slow, int32(i))
	}
}

func (t *table) matchN(w [][]uint64, groups []uint32) {
	for i, g := range groups[:len(w[0])] {
		if g == noGroup || !t.equal(g, w, i) {
			t.slow = append(t.slow, int32(i))
		}
	}
}

func (t *table) equal(g uint32, w [][]uint64, i int) bool {
	row := t.rows.Rows[int(g)*t.rows.Stride+1:]
	for k := range w {
		if row[k] != w[k][i] {
			return false
		}
	}
	return true
}

// probe finds or makes the group of one row.
func (t *table) probe(hash uint64, w [][]uint64, i int) (uint32, error) {
	d := &t.dir
	s := d.home(hash)
	for ; d.slots[s] != 0; s = d.next(s) {
		if e := d.slots[s]; d.tagged(e, hash) && t.equal(d.group(e), w, i) {
			return d.group(e), nil
		}
	}
	return t.enter(s, hash, w, i)
}

// enter makes the group of a row whose key has none, s being the free slot
// where its probing ended. When memory is refused the table is as it was.
func (t *table) enter(s, hash uint64, w [][]uint64, i int) (uint32, error) {
	d, group := &t.dir, t.n
	if len(t.rows.Rows)+t.rows.Stride > cap(t.rows.Rows) {
		if err := t.growRows(max(minRows*t.rows.Stride, 2*cap(t.rows.Rows))); err != nil {
			return 0, err
		}
	}
	if int(group) < d.capacity() {
		d.slots[s] = d.entry(hash, group)
	} else {
		if err := t.growDir(); err != nil {
			return 0, err
		}
		d.place(hash, group)
	}
	t.add(hash, w, i)
	return group, nil
}

// add appends a fresh row for the key.
func (t *table) add(hash uint64, w [][]uint64, i int) {
	r := t.rows.Rows
	at := len(r)
	r = append(r, t.template...)
	r[at] = hash
	for k := range w {
		r[at+1+k] = w[k][i]
	}
	t.rows.Rows = r
	t.n++
}

// addEmpty makes the one group of a query without keys, which exists even if
// no row does.
func (t *table) addEmpty(states *agg.Layout) error {
	t.rows.Rows = hostmem.Make[uint64](t.rows.Stride)
	states.InitEmpty(t.rows.Rows)
	t.rows.Unseen = true
	t.n = 1
	return t.grow(int64(t.rows.Stride) * 8)
}

// growRows makes room for rows of so many words in all.
func (t *table) growRows(words int) error {
	if err := t.grow(int64(words-cap(t.rows.Rows)) * 8); err != nil {
		return err
	}
	t.rows.Rows = hostmem.Grow(t.rows.Rows, words)[:len(t.rows.Rows)]
	return nil
}

// growDir doubles the directory.
func (t *table) growDir() error { return t.resizeDir(2 * t.dir.capacity()) }

// resizeDir makes a directory for n groups.
func (t *table) resizeDir(n int) error {
	if err := t.grow(int64(1<<dirBits(n)-len(t.dir.slots)) * 4); err != nil {
		return err
	}
	t.dir.drop() // the rows know all that is in it
	t.dir = newDirectory(n, 1<<dirBits(n), 0)
	for g := range t.n {
		t.dir.place(t.rows.Rows[int(g)*t.rows.Stride], g)
	}
	return nil
}

// reserve makes room for n groups at once, if that is more than there is and
// memory allows: a table that doubles its way there touches twice the memory.
// n is an estimate, so a refusal is no error.
func (t *table) reserve(n int) {
	if words := n * t.rows.Stride; words > cap(t.rows.Rows) && t.growRows(words) != nil {
		return
	}
	if n > t.dir.capacity() {
		_ = t.resizeDir(n)
	}
}
