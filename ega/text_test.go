package ega_test

import (
	"encoding/binary"
	"fmt"
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
		k := r.Load(layout)
		for seed := range uint64(6) {
			if emulator, emulated := emu.Control(); emulated {
				emulator.Seed(seed)
			}
			for name, strategy := range map[string]func(*rig, *ega.Kernels, *egatest.Case) []uint64{"shared": byShared, "crowded": byCrowded} {
				groups := strategy(r, k, &egatest.Case{Layout: layout, Rows: rows})
				if len(groups) != len(least)*layout.Stride() {
					t.Fatalf("%s: %d words, want %d groups", name, len(groups), len(least))
				}
				for row := range slices.Chunk(groups, layout.Stride()) {
					key, states := row[keys], row[1+keys:]
					for i, want := range []int{least[key], greatest[key]} {
						got := []uint64{states[0], states[1]}
						if i == 1 {
							got = []uint64{states[2], states[4]}
						}
						if want < 0 && got[1] != 0 || want >= 0 && (got[1] != refs[want] || got[0] != prefixOf(texts[want])) {
							t.Fatalf("%s, %d key words, seed %d: group %d has %x, want text %d", name, keys, seed, key, got, want)
						}
					}
				}
			}
		}
	}
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
