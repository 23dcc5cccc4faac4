package key

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

var stringType = column.Type{Kind: column.String}

// stringRows encodes a batch of strings and returns what the table would
// compare it with, too.
func stringRows(t *testing.T, strs []string, dict bool, reg *arena.Arenas) (*Layout, *Encoder, [][]uint64) {
	t.Helper()
	var vals []column.Value
	for _, s := range strs {
		vals = append(vals, column.Value{Type: stringType, Bytes: s})
	}
	l := NewLayout([]Column{{Type: stringType}})
	encode := func() *Encoder {
		e := NewEncoder(l, NewInterner(nil))
		e.Encode([]column.Vector{vector(stringType, vals, dict)}, len(strs))
		return e
	}
	return l, encode(), rows(encode(), reg.New())
}

// Strings that agree in what their words hold, or in much of their bytes, are
// different keys, and each is equal to itself: in rows and between a batch
// and rows.
func TestAlikeStrings(t *testing.T) {
	t.Parallel()
	for name, strs := range map[string][]string{
		"around 15 bytes":                      {strings.Repeat("a", 14), strings.Repeat("a", 15), strings.Repeat("a", 16), strings.Repeat("a", 15) + "\x00", strings.Repeat("a", 14) + "\x00"},
		"a long common prefix":                 {strings.Repeat("p", 64<<10) + "1", strings.Repeat("p", 64<<10) + "2", strings.Repeat("p", 64<<10)},
		"equal length and 24 bits of the hash": sameLongWord(t),
		"a short one of the bytes of a ref":    {"\x01\x00\x00\x00\x00\x00\x00\x00", "a string of more than 15 bytes"},
	} {
		for _, dict := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/dict=%t", name, dict), func(t *testing.T) {
				var reg arena.Arenas
				defer reg.Close()
				l, e, a := stringRows(t, strs, dict, &reg)
				_, _, b := stringRows(t, strs, dict, &reg)
				for i := range strs {
					for j := range strs {
						if l.Equal(a[i], b[j], 1, &reg) != (i == j) {
							t.Errorf("rows %d and %d: equal is %t", i, j, i != j)
						}
						groups := make([]uint32, len(strs))
						e.Match(groups, math.MaxUint32, b[j], 0, 1, &reg)
						if same := groups[i] == 0; same != (i == j) {
							t.Errorf("row %d of the batch matches row %d: %t", i, j, same)
						}
						if same := e.SameWords(i, b[j][1:]) && e.SameLong(i, b[j][1:], &reg); same != (i == j) {
							t.Errorf("row %d of the batch and row %d: same is %t", i, j, same)
						}
					}
				}
			})
		}
	}
}

// sameLongWord finds different strings that have the same second word.
func sameLongWord(t *testing.T) []string {
	t.Helper()
	seen := map[uint64]string{}
	for i := range 1 << 16 {
		s := fmt.Sprintf("a string of equal length %08d", i)
		word := longWord(hashBytes([]byte(s)), uint32(len(s)))
		if other, ok := seen[word]; ok {
			return []string{s, other}
		}
		seen[word] = s
	}
	t.Fatal("no two strings have the same second word")
	return nil
}

// The room for the strings of a batch is known before they are stored.
func TestLongBytes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		u := newTuples(rng, []Column{{Type: stringType}, {Type: stringType}}, 100)
		if seed == 0 {
			for c := range u.data {
				u.data[c] = slices.Repeat([]column.Value{{Type: stringType, Bytes: "short"}}, 100)
			}
		}
		want := 0
		for c, col := range u.data {
			for _, v := range col {
				if len(v.Bytes) > int(u.layout.fields[c].most()) {
					want += arena.Size(len(v.Bytes))
				}
			}
		}
		e := u.encode(rng)
		if got := e.LongBytes(); got != want || e.HasLong() != (want > 0) {
			t.Errorf("%d bytes of long strings, want %d; HasLong %t", got, want, e.HasLong())
		}
		var reg arena.Arenas
		a := reg.New()
		if err := a.Reserve(want); err != nil {
			t.Fatal(err)
		}
		held := reg.Bytes()
		if rows(e, a); reg.Bytes() != held {
			t.Errorf("%d bytes reserved, %d taken", held, reg.Bytes())
		}
		reg.Close()
	}
}

// Rows moved into a section, the section adopted by another registry and the
// rows rebased onto it, and moved on from there into an arena, are the same
// keys at every stop.
func TestMove(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		cols := []Column{{Type: stringType}, {Type: types[rng.IntN(len(types))]}, {Type: stringType, Intern: true}, {Type: stringType}}
		u := newTuples(rng, cols, 100)
		var first, second arena.Arenas
		block := rows(u.encode(rng), first.New())
		var s arena.Section
		for _, row := range block {
			u.layout.Move(row, 1, &first, &s)
		}
		chunk := bytes.Clone(s.Bytes())
		s.Free()
		first.Close()
		second.Adopt(make([]byte, 64)) // so that the base is not 0
		base := second.Adopt(chunk)
		for _, row := range block {
			u.layout.Rebase(row, 1, base)
		}
		u.mustDecode(t, block, &second)
		a := second.New()
		for _, row := range block {
			u.layout.Move(row, 1, &second, a)
		}
		second.Drop(base)
		clear(chunk)
		u.mustDecode(t, block, &second)
		second.Close()
	}
}

// Only inline fields hold refs.
func TestHasRefs(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		cols []Column
		want bool
	}{
		{nil, false},
		{[]Column{{Type: column.Type{Kind: column.Int64}}}, false},
		{[]Column{{Type: stringType, Intern: true}, {Type: column.Type{Kind: column.UUID}}}, false},
		{[]Column{{Type: column.Type{Kind: column.Int64}}, {Type: stringType}}, true},
	} {
		if got := NewLayout(x.cols).HasRefs(); got != x.want {
			t.Errorf("%v: %t", x.cols, got)
		}
	}
}
