package ega_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
)

// someTexts are texts that begin alike, or are the beginning of others, some of zeros and of the
// greatest bytes, and the words of an arena that has each once, from base on.
func someTexts(random *rand.Rand, n int) (texts []string, refs []uint64, arena []uint64) {
	const base = 7 << 32
	all := map[string]bool{"": true, "\x00": true, strings.Repeat("\x00", 9): true, strings.Repeat("\xff", 8): true, strings.Repeat("\xff", 20): true}
	for len(all) < n {
		text := strings.Repeat("http://", random.IntN(3)) + strings.Repeat("x", random.IntN(20)) + fmt.Sprint(random.IntN(20))
		all[text] = true
	}
	for text := range all {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	for _, text := range texts {
		arena = append(arena, uint64(len(text)))
		refs = append(refs, base|uint64(len(arena)))
		bytes := append([]byte(text), make([]byte, 7)...)
		for i := 0; i < len(text); i += 8 {
			arena = append(arena, binary.LittleEndian.Uint64(bytes[i:]))
		}
	}
	return texts, refs, arena
}

// The least and the greatest text of a group, by its bytes, in tables of blocks and in that in
// device memory, with keys of one word and of more, in any order in which threads go on.
func TestTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	texts, refs, arena := someTexts(random, 150)
	r := newRig(t)
	memory := r.Send(arena)
	for _, keys := range []int{1, 3} {
		layout := ega.Layout{
			Hash: true, KeyWords: keys, Mates: []int{1, 0, 4}, Texts: memory.Ptr,
			Ops: []combine.Op{combine.LeastText, combine.TextRef, combine.GreatestText, combine.Add, combine.TextRef},
		}
		rows, least, greatest := textRowsOf(random, keys, texts, refs)
		r.eachGroup(r.Load(layout), &egatest.Case{Layout: layout, Rows: rows}, len(least), func(row []uint64) (wrong string) {
			key, states := row[keys], row[1+keys:]
			for i, want := range []int{least[key], greatest[key]} {
				got := []uint64{states[0], states[1]}
				if i == 1 {
					got = []uint64{states[2], states[4]}
				}
				if want < 0 && got[1] != 0 || want >= 0 && (got[1] != refs[want] || got[0] != prefixOf(texts[want])) {
					return fmt.Sprintf("%d key words: group %d has %x, want text %d", keys, key, got, want)
				}
			}
			return ""
		})
	}
}

// eachGroup calls f with the groups, so many, that each strategy makes of rows, in any order in
// which threads go on. It returns what is wrong with a group.
func (r *rig) eachGroup(k *ega.Kernels, c *egatest.Case, groups int, f func(row []uint64) (wrong string)) {
	r.TB.Helper()
	for seed := range uint64(6) {
		if emulator, emulated := emu.Control(); emulated {
			emulator.Seed(seed)
		}
		for name, strategy := range map[string]func(*rig, *ega.Kernels, *egatest.Case) []uint64{"shared": byShared, "crowded": byCrowded} {
			made := strategy(r, k, c)
			if len(made) != groups*c.Layout.Stride() {
				r.TB.Fatalf("%s: %d words, want %d groups", name, len(made), groups)
			}
			for row := range slices.Chunk(made, c.Layout.Stride()) {
				if wrong := f(row); wrong != "" {
					r.TB.Fatalf("%s, seed %d: %s", name, seed, wrong)
				}
			}
		}
	}
}

// The value of the row with the least or greatest text, and the first of these; where the text is
// the key alone a value stands for its row.
func TestTextKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	texts, refs, arena := someTexts(random, 60)
	r := newRig(t)
	memory := r.Send(arena)
	layout := ega.Layout{
		Hash: true, KeyWords: 1, Mates: []int{1, 2, 3, 0, 5, 6, 7}, Texts: memory.Ptr,
		Ops: []combine.Op{combine.LeastBy, combine.ByRef, combine.BestPlace, combine.Placed, combine.GreatestBy, combine.ByRef, combine.BestPlace, combine.Placed},
	}
	type best struct {
		text     string
		position uint64
	}
	want, rows := map[uint64][2]best{}, []uint64{}
	const never = math.MaxInt64
	for i, position := range random.Perm(1200) {
		key := random.Uint64N(20) * random.Uint64N(2)
		w, known := want[key]
		rows = append(rows, reference.HashOf([]uint64{key}), key)
		if n := random.IntN(len(texts)); i%6 > 0 && key != 7 {
			b := best{texts[n], uint64(position)}
			for k := range w {
				if c := strings.Compare(b.text, w[k].text); !known || w[k].position == never || c != 0 && (c < 0) == (k == 0) || c == 0 && b.position < w[k].position {
					w[k] = b
				}
				rows = append(rows, prefixOf(texts[n]), refs[n], uint64(position), ^uint64(position))
			}
		} else {
			rows = append(rows, ^uint64(0), 0, never, 0, 0, 0, never, 0)
			if !known {
				w = [2]best{{"", never}, {"", never}}
			}
		}
		want[key] = w
	}
	r.eachGroup(r.Load(layout), &egatest.Case{Layout: layout, Rows: rows}, len(want), func(row []uint64) (wrong string) {
		for n, w := range want[row[1]] {
			got := row[2+4*n:][:4]
			if got[2] != w.position || w.position != never && (got[3] != ^w.position || texts[slices.Index(refs, got[1])] != w.text || got[0] != prefixOf(w.text)) {
				return fmt.Sprintf("group %d has %x, want %+v", row[1], got, w)
			}
		}
		return ""
	})
}

// prefixOf is the first 8 bytes of a text as a number.
func prefixOf(text string) uint64 {
	var b [8]byte
	copy(b[:], text)
	return binary.BigEndian.Uint64(b[:])
}

// textRowsOf is rows of texts, of which some have none, and which text of each group is the least
// and the greatest; -1: it has none.
func textRowsOf(random *rand.Rand, keys int, texts []string, refs []uint64) (rows []uint64, least, greatest map[uint64]int) {
	least, greatest = map[uint64]int{}, map[uint64]int{}
	for i := range 1500 {
		key := random.Uint64N(40) * random.Uint64N(2)
		words := slices.Repeat([]uint64{3}, keys)
		words[keys-1] = key
		rows = append(append(rows, reference.HashOf(words)), words...)
		if _, known := least[key]; !known {
			least[key], greatest[key] = -1, -1
		}
		if n := random.IntN(len(texts)); i%5 > 0 && key != 7 {
			rows = append(rows, prefixOf(texts[n]), refs[n], prefixOf(texts[n]), 1, refs[n])
			if least[key] < 0 || texts[n] < texts[least[key]] {
				least[key] = n
			}
			if greatest[key] < 0 || texts[n] > texts[greatest[key]] {
				greatest[key] = n
			}
			continue
		}
		rows = append(rows, ^uint64(0), 0, 0, 1, 0)
	}
	return rows, least, greatest
}
