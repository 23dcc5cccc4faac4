package key

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
)

// textsOf is n strings around the lengths that fields hold, many of which differ in their last byte
// alone, from number first on.
func textsOf(first, n int) (out []column.Value) {
	for k := first; k < first+n; k++ {
		s := fmt.Sprintf("%s%06d%c", strings.Repeat("-", k/3%70), k/3, 'a'+k%3)
		out = append(out, column.Value{Type: stringType, Bytes: s})
	}
	return append(out, column.Value{Type: stringType})
}

// TEXT-ONCE: strings of dictionaries that several workers translate have one ref each; the words of
// others differ, and they are the strings again in rows. So it is in fields of any size.
func TestTexts(t *testing.T) {
	t.Parallel()
	const workers, dicts, each, step = 4, 12, 400, 100
	for _, inline := range []int{MaxInline, 40} {
		reg := arena.New(nil)
		texts := NewTexts(reg, nil)
		l := NewLayout([]Column{{Type: stringType, Inline: inline}})
		var mu sync.Mutex
		rows := map[string][]uint64{}
		seen := map[string]string{} // by the words
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				e := NewEncoder(l, NewInterner(nil))
				e.Texts = texts
				for d := range dicts {
					strs := textsOf((d+w*7)%dicts*step, each)
					entries := vector(stringType, strs, false)
					words, hash, ok := e.TranslateDict(0, &entries)
					if !ok {
						t.Error("no words")
						return
					}
					mu.Lock()
					for i, s := range strs {
						row := []uint64{hash[i]}
						for k := range l.Words {
							row = append(row, words[k][i])
						}
						if before, there := rows[s.Bytes]; there && !slices.Equal(before, row) {
							t.Errorf("%q is %x and %x", s.Bytes, before, row)
						}
						if other, there := seen[fmt.Sprint(row[1:])]; there && other != s.Bytes {
							t.Errorf("%q and %q are both %x", s.Bytes, other, row)
						}
						rows[s.Bytes], seen[fmt.Sprint(row[1:])] = row, s.Bytes
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		texts.Close()
		long, bytes := 0, 0
		for s, row := range rows {
			own := NewEncoder(l, NewInterner(nil))
			own.Encode([]column.Vector{vector(stringType, []column.Value{{Type: stringType, Bytes: s}}, false)}, 1)
			words := []uint64{0}
			for _, w := range own.Words {
				words = append(words, w[0])
			}
			own.Keep(0, words[1:], reg.New())
			if !l.Equal(row, words, 1, reg) {
				t.Fatalf("%q is another key than a worker's", s)
			}
			dec := Decoder{Layout: l, Arenas: reg, Base: 1, Stride: len(words)}
			dec.Begin(row)
			var v column.Vector
			if dec.Decode(0, row, &v); string(v.Bytes(0)) != s {
				t.Fatalf("%q comes back as %q", s, v.Bytes(0))
			}
			if len(s) > 8*l.Words-1 {
				long, bytes = long+1, bytes+len(s)
			}
		}
		if n, b := texts.Len(); int(n) != long || int(b) != bytes || n < 500 {
			t.Errorf("%d strings of %d bytes, want %d of %d", n, b, long, bytes)
		}
		reg.Close()
	}
}

// Memory that is refused is an answer, and what was added stays; all is drawn, and given back.
func TestTextsRefused(t *testing.T) {
	t.Parallel()
	memory := budgettest.AtMost(3 << 20)
	reg := arena.New(nil)
	texts := NewTexts(reg, memory)
	e := NewEncoder(NewLayout([]Column{{Type: stringType}}), NewInterner(nil))
	e.Texts = texts
	first := vector(stringType, textsOf(0, 3000), false)
	words, _, ok := e.TranslateDict(0, &first)
	if !ok {
		t.Fatal("memory for 3000 strings is refused")
	}
	want := slices.Clone(words[0])
	refused := false
	for k := 1; k < 40 && !refused; k++ {
		next := vector(stringType, textsOf(3000*k, 3000), false)
		_, _, ok := e.TranslateDict(0, &next)
		refused = !ok
	}
	if !refused {
		t.Error("no memory was refused")
	}
	if words, _, ok := e.TranslateDict(0, &first); !ok || !slices.Equal(words[0], want) {
		t.Errorf("strings that were added are others now, or none: %t", ok)
	}
	texts.Close()
	if reg.Close(); memory.Committed() != 0 {
		t.Errorf("%d bytes were not given back", memory.Committed())
	}
}
