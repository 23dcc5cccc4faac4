package key

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// looked is the keys of dictionary-coded columns, as a device looks them up.
func looked(e *Encoder, l *Layout, vs []column.Vector, n int) (words [][]uint64, hash []uint64, ok bool) {
	words, hash = make([][]uint64, l.Words), make([]uint64, n)
	for w := range words {
		words[w] = make([]uint64, n)
	}
	for r := range hash {
		hash[r] = hashSeed
	}
	ok = true
	for i, f := range l.Fields() {
		entries, hashes, short := e.TranslateDict(i, &vs[i].Dict.Values)
		ok = ok && short
		if len(entries) != f.Words {
			panic("a word is missing")
		}
		for r, c := range vs[i].Codes {
			if vs[i].IsNull(r) {
				words[f.NullWord][r] |= f.NullBit
				hash[r] = mix(hash[r], NullHash)
				continue
			}
			for k := range entries {
				words[f.Word+k][r] |= entries[k][c]
			}
			hash[r] = mix(hash[r], hashes[c])
		}
	}
	return words, hash, ok
}

// edges is the edge cases of a type, long strings among them or not.
func edges(t column.Type, long bool) []column.Value {
	return slices.DeleteFunc(values(t), func(v column.Value) bool {
		return !long && t.Rep() == column.RepBytes && t.Kind != column.UUID && len(v.Bytes) > MaxInline
	})
}

// Keys made from dictionary entries are those of Encode, unless there are long strings that are
// not interned.
func TestTranslateDict(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 3))
		long := seed%4 == 0
		var cols []Column
		var vs []column.Vector
		const n = 50
		refs := false
		for range 1 + rng.IntN(5) {
			c := Column{Type: types[rng.IntN(len(types))], Intern: rng.IntN(2) == 0}
			edge := edges(c.Type, long)
			data := make([]column.Value, n)
			for r := range data {
				data[r] = edge[rng.IntN(len(edge))]
				refs = refs || formOf(c) == FormInline && len(data[r].Bytes) > MaxInline
			}
			v := vector(c.Type, data, true)
			rng.Shuffle(n, func(a, b int) { v.Codes[a], v.Codes[b] = v.Codes[b], v.Codes[a] })
			v.Null = make([]bool, n)
			for r := range v.Null {
				v.Null[r] = rng.IntN(4) == 0
			}
			cols, vs = append(cols, c), append(vs, v)
		}
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			l := NewLayout(cols)
			e := NewEncoder(l, NewInterner(nil))
			words, hash, ok := looked(e, l, vs, n)
			if ok == refs {
				t.Fatalf("long strings: %t, ok: %t", refs, ok)
			}
			e.Encode(vs, n)
			if !slices.Equal(hash, e.Hash) {
				t.Fatalf("%v: hashes differ from those of Encode", cols)
			}
			for w := range words {
				if ok && !slices.Equal(words[w], e.Words[w]) {
					t.Fatalf("%v: word %d differs from that of Encode", cols, w)
				}
			}
		})
	}
}

// A device that makes fields from values relies on this: bits, shifted to their place, are their
// own hash, and the hash of an inline string is that of its two words.
func TestFieldFromValues(t *testing.T) {
	t.Parallel()
	fromValues := 0
	for _, typ := range types {
		for _, intern := range []bool{false, true} {
			l := NewLayout([]Column{{Type: column.Type{Kind: column.Int16}}, {Type: typ, Intern: intern}})
			f := l.Fields()[1]
			rows := edges(typ, false)
			entries := vector(typ, rows, true).Dict.Values
			words, hash, _ := NewEncoder(l, NewInterner(nil)).TranslateDict(1, &entries)
			for r, v := range rows {
				switch f.Form {
				case FormBits:
					if words[0][r] != hash[r]<<f.Shift || hash[r]>>(f.Bits-1)>>1 != 0 || f.Shift+f.Bits > 64 {
						t.Errorf("%s %v: bits %x at %d, %d of them, are %x", typ, v, hash[r], f.Shift, f.Bits, words[0][r])
					}
					if !typ.IsFloat() && hash[r] != uint64(v.Int)<<(64-f.Bits)>>(64-f.Bits) {
						t.Errorf("%s %v: bits %x", typ, v, hash[r])
					}
					fromValues++
				case FormInline:
					fromValues++
					if hash[r] != hashWords(words[0][r], words[1][r]) || words[1][r]>>56 != uint64(len(v.Bytes)) {
						t.Errorf("%q: words %x, %x, hash %x", v.Bytes, words[0][r], words[1][r], hash[r])
					}
				}
			}
		}
	}
	if fromValues < 100 {
		t.Errorf("only %d values were tried", fromValues)
	}
}
