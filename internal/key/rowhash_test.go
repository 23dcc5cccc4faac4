package key

import (
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// HASH-OMITTED: rows whose few values are hashed by their bits have no hash: it is computed from
// their key words. Others keep theirs.
func TestOmitHash(t *testing.T) {
	t.Parallel()
	bare := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var cols []Column
		omits := true
		for range 1 + rng.IntN(mostRehashed+1) {
			c := Column{Type: types[rng.IntN(len(types))]}
			if rng.IntN(8) > 0 { // else few rows would have none
				c.Type = types[rng.IntN(12)]
			}
			cols = append(cols, c)
			omits = omits && formOf(c) == FormBits
		}
		u := newTuples(rng, cols, 100)
		for c := range cols {
			if cols[c].Filled = rng.IntN(2) == 0; cols[c].Filled {
				for i := range u.data[c] {
					if u.data[c][i].Null {
						u.data[c][i] = values(cols[c].Type)[0]
					}
				}
			}
		}
		u.layout = NewLayout(cols)
		u.layout.OmitHash()
		if omits = omits && len(cols) <= mostRehashed; omits != (u.layout.Base() == 0) {
			t.Fatalf("%v: the key begins at word %d", cols, u.layout.Base())
		}
		if omits {
			bare++
		}
		reg := &arena.Arenas{}
		e := u.encode(rng)
		stride := u.layout.Base() + u.layout.Words + rng.IntN(3)
		var flat []uint64
		for _, r := range rows(e, reg.New()) {
			flat = append(flat, append(r[1-u.layout.Base():], make([]uint64, stride-u.layout.Base()-u.layout.Words)...)...)
		}
		hashes := make([]uint64, len(e.Hash))
		u.layout.RowHashes(flat, stride, hashes)
		for i, want := range e.Hash {
			if one := u.layout.RowHash(flat[i*stride:]); one != want || hashes[i] != want {
				t.Fatalf("%v, row %d: the hashes %x and %x, want %x", cols, i, one, hashes[i], want)
			}
		}
		reg.Close()
	}
	if bare < 50 {
		t.Errorf("%d layouts without a hash", bare)
	}
}

// A query without keys has one group, whose row is as it was.
func TestOmitHashNoKeys(t *testing.T) {
	t.Parallel()
	l := NewLayout(nil)
	if l.OmitHash(); l.Base() != 1 {
		t.Error("a row without keys has no hash")
	}
	l = NewLayout([]Column{{Type: column.Type{Kind: column.String}}})
	if l.OmitHash(); l.Base() != 1 {
		t.Error("a row of a text has no hash")
	}
}

// Where a device takes part the key of a query without keys has a word, and its hash is that of no
// field, as Encode has it.
func TestConstantKey(t *testing.T) {
	t.Parallel()
	l := NewLayout(nil)
	l.Constant()
	e := NewEncoder(l, NewInterner(nil))
	e.Encode(nil, 3)
	if l.Words != 1 || l.Base() != 1 || len(e.Words) != 1 || len(e.Words[0]) != 3 || e.Words[0][2] != 0 || e.Hash[2] != EmptyHash {
		t.Errorf("%d words from %d on; the rows are %v with hashes %v", l.Words, l.Base(), e.Words, e.Hash)
	}
	if a, b := []uint64{1, 0, 5}, []uint64{1, 0, 6}; !l.Equal(a, b, 1, nil) {
		t.Error("two rows have other keys")
	}
}
