package cpu

import (
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// room is the memory of a table, and what it may become.
//
// TABLE-ROOM: before rows are looked up, secure takes from the budget what
// the table needs if each of them is a new group. So looking up cannot fail
// halfway, and nothing is allocated for groups that do not come.
type room struct {
	from  budget.Lender
	limit int64 // bytes; 0: none
	held  int64 // bytes taken from the budget
	words int   // of rows, when they grow next
	slots int   // of the directory, when it grows next
}

// errTableFull is the refusal of a table's own limit.
var errTableFull = &budget.Error{Why: "a table is as large as it may get"}

// secure takes memory for n more groups.
func (t *table) secure(n int) error {
	n += int(t.n)
	if t.inCache() {
		if n*t.rows.Stride > cap(t.rows.Rows) {
			return errTableFull
		}
		return nil
	}
	words, slots := cap(t.rows.Rows), len(t.dir.slots)
	if n*t.rows.Stride > words {
		words = max(n*t.rows.Stride, 2*words, minRows*t.rows.Stride)
	}
	for n > capacityOf(slots) {
		slots *= 2
	}
	need := int64(words)*8 + int64(slots)*4
	if over := need - t.limit; t.limit > 0 && over > 0 {
		least := n * t.rows.Stride
		words = max(words-int(over/8)-t.rows.Stride, least)
		if need = int64(words)*8 + int64(slots)*4; need > t.limit {
			return errTableFull
		}
	}
	if need > t.held {
		if err := t.from.Draw(need - t.held); err != nil {
			return err
		}
		t.held = need
	}
	t.room.words, t.room.slots = words, slots
	return nil
}

// growRows makes room for the rows that were secured.
func (t *table) growRows() {
	n := len(t.rows.Rows)
	t.rows.Rows = hostmem.Grow(t.rows.Rows, t.room.words)[:n]
}

// growDir makes the directory that was secured.
func (t *table) growDir() {
	seeded, left := t.dir.seeded, t.dir.left
	t.dir.drop()
	t.dir = newDirectory(t.room.slots/2, t.room.slots, 0)
	t.dir.seeded, t.dir.left = seeded, left
	if seeded {
		for g := range t.n {
			t.dir.place(t.secret(g), g)
		}
		return
	}
	var hashes [hashRows]uint64
	for g := uint32(0); g < t.n; {
		some := hashes[:min(len(hashes), int(t.n-g))]
		t.keys.RowHashes(t.rows.Rows[int(g)*t.rows.Stride:], t.rows.Stride, some)
		t.dir.placeAll(some, g)
		g += uint32(len(some))
	}
}

// hashOf is the hash by which the directory places a group.
func (t *table) hashOf(group uint32) uint64 {
	if t.dir.seeded {
		return t.secret(group)
	}
	return t.keys.RowHash(t.rows.Rows[int(group)*t.rows.Stride:])
}

// secret is the seeded hash of a group's key.
func (t *table) secret(group uint32) uint64 {
	return t.keys.Secret(t.keyOf(group), 0, t.rows.Arena.Registry())
}

// growTo makes room for n groups at once, if that is more than there is and
// memory allows: a table that doubles its way there touches twice the memory.
// n is an estimate, so a refusal is no error.
func (t *table) growTo(n int) {
	if n <= int(t.n) || t.secure(n-int(t.n)) != nil {
		return
	}
	if t.room.words > cap(t.rows.Rows) {
		t.growRows()
	}
	if t.room.slots > len(t.dir.slots) {
		t.growDir()
	}
}

// cache gives a table without groups at most limit bytes of memory anew, which it keeps, and the
// directory recent. If that is refused it is as much as the table has had.
func (t *table) cache(limit int64) error {
	if t.limit > 0 {
		limit = min(limit, t.limit)
	}
	had := t.held
	t.drop()
	err := t.from.Draw(limit)
	if err != nil && had < limit {
		limit = had
		err = t.from.Draw(limit)
	}
	if err != nil {
		return err
	}
	t.held, t.limit = limit, limit
	t.rows.Rows, t.recent = newRecent(t.rows.Stride, limit)
	return nil
}

// empty takes all groups out and keeps the memory.
func (t *table) empty() {
	t.rows.Rows, t.rows.Unseen, t.n = t.rows.Rows[:0], false, 0
	if !t.inCache() { // RECENT
		t.dir.empty()
	}
}

// drop frees the table.
func (t *table) drop() {
	hostmem.Free(t.rows.Rows)
	t.dir.drop()
	hostmem.Free(t.recent.groups)
	t.recent = recent{}
	t.from.Release(t.held)
	t.rows.Rows, t.n, t.held = nil, 0, 0
}
